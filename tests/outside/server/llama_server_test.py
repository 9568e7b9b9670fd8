#!/usr/bin/env python3
"""llama-server's own tests against `ingot serve`, by the program llama_server beside this one.

usage: llama_server_test.py PATH_OF_INGOT FOLDER

FOLDER is tools/server/tests of a checkout of llama.cpp. Needs the packages that its requirements.txt names, and the folder
stories260K in INGOT_OUTSIDE_DATA. Every case that llama_server_passing.txt names must pass; others that pass are named,
so that they can be added there.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent.parent
sys.path.insert(0, str(TESTS / "end_to_end"))
from embedder import make_embedder  # noqa: E402
from run_cases import SKIPPED  # noqa: E402

# Of endpoints that are served.
FILES = ("basic", "chat_completion", "security", "template", "tokenize", "embedding", "completion", "ignore_eos",
         "ctx_shift", "metrics", "tool_call", "compat_anthropic", "compat_oai_responses")  # fmt: skip
PACKAGES = ("pytest", "requests", "openai", "wget", "aiohttp", "numpy")
LIMIT_SECONDS = 1200


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


def make_stories(ingot, folder):
    data = Path(os.environ.get("INGOT_OUTSIDE_DATA", ".")) / "stories260K"
    if not (data / "stories260K.bin").is_file():
        skip("INGOT_OUTSIDE_DATA has no folder stories260K")
    stories = folder / "stories260K.gguf"
    made = [ingot, "import", "llama2c", data / "stories260K.bin", data / "tok512.bin", stories]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    return stories


def passed_cases(text):
    return {re.sub(r"\s+$", "", line[len("PASSED ") :]) for line in text.splitlines() if line.startswith("PASSED ")}


def run_tests(ingot, tests):
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        environment = {**os.environ, "INGOT": ingot, "STORIES": str(make_stories(ingot, folder)), "PORT": "18180",
                       "EMBEDDER": str(make_embedder(TESTS / "goldens", folder / "bert")), "TMPDIR": made,
                       "LLAMA_SERVER_BIN_PATH": str(HERE / "llama_server"), "PYTHONDONTWRITEBYTECODE": "1",
                       "NO_PROXY": "127.0.0.1"}  # fmt: skip
        asked = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", "--tb=line",
                 *(f"unit/test_{name}.py" for name in FILES)]  # fmt: skip
        done = subprocess.run(asked, cwd=tests, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)
        if done.returncode not in (0, 1):
            sys.exit(f"expected tests that run, found:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
        return done.stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ingot, tests = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    for package in PACKAGES:
        if subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True).returncode != 0:
            skip(f"expected the Python package {package}, found none")
    if not (tests / "utils.py").is_file():
        skip(f"expected llama-server's tests in {tests}, found none")
    text = run_tests(ingot, tests)
    passed = passed_cases(text)
    expected = set((HERE / "llama_server_passing.txt").read_text().splitlines())
    for case in sorted(expected - passed):
        print(f"FAILED {case}")
    for case in sorted(passed - expected):
        print(f"passed, and is not expected to: {case}")
    failed = {
        re.split(r" - |\[", line[len("FAILED ") :])[0] for line in text.splitlines() if line.startswith("FAILED ")
    }
    whole = {case.split("[")[0] for case in passed} - failed
    print(f"{len(passed)} cases passed, {len(whole)} functions of which every case did: {text.splitlines()[-1]}")
    sys.exit(1 if expected - passed else 0)


if __name__ == "__main__":
    main()
