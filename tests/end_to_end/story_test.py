#!/usr/bin/env python3
"""The built-in model's tale on Ingot's kernel: the same bytes as from the same program under qemu-user, and the same
text as from this machine's own program.

usage: story_test.py INGOT KERNEL ENGINE [--cpus COUNT] [--tokens COUNT] [--smollm2]

ENGINE is `ingot` for x86_64. Without --tokens the whole tale is told. --smollm2: SmolLM2-135M answers instead, from a file
that INGOT_SMOLLM2 names or that model_test.py keeps in the user's cache, compared with this machine's answer alone, since
emulation is slow; skipped where there is no such file.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from program import Program  # noqa: E402

USER_EMULATOR = "qemu-x86_64"
PROCESSOR = "max"  # as `ingot boot` has it, for equal instructions
ESCAPE = "\x1b"
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION = ["-p", "The capital of France is", "-n", "2"]  # some 15 s a token, emulated


def emulated(engine: str) -> Program:
    """The same program on Linux, with the instructions that `ingot boot` gives it."""
    return Program(engine, USER_EMULATOR, "-cpu", PROCESSOR)


def tale_of(output: str) -> str:
    """What was told: behind the tale a console also shows how fast it was."""
    return output.split("\n[")[0].strip("\n")


def find_smollm2() -> Path | None:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ingot"
    path = Path(os.environ.get("INGOT_SMOLLM2", cache / SMOLLM2))
    return path if path.is_file() else None


def fail(text: str) -> int:
    print(f"FAILED: {text}")
    return 1


def tell(guest: Guest, engine: str, cpus: int, model: Path | None, words: list[str]) -> int:
    cast = guest.cast(*([str(model)] if model else []), "--engine", engine, "--cpus", str(cpus))
    if cast.returncode != 0:
        return fail(f"expected an image, found\n{cast.stderr}")
    threads = ["--threads", str(cpus)]
    in_image = ["/model.gguf"] if model else []
    there = guest.boot("run", *in_image, *words, *threads, seconds=900)
    if there.status != 0:
        return fail(f"expected the tale to end well on the kernel, found status {there.status}\n{there.output}\n{there.log}")
    if ESCAPE in there.output:
        return fail(f"expected text alone, because the output is no terminal, found escape codes\n{there.output!r}")
    tale = tale_of(there.output)
    here = tale_of(guest.run("run", *([str(model)] if model else []), *words).stdout)
    print(tale)
    if len(tale.split()) < 5:
        return fail("expected a tale of some words, found none")
    if tale != here:
        return fail(f"expected the same text as on this machine, found here\n{here}")
    if model is None:
        on_linux = tale_of(emulated(engine).run("run", *words, *threads, limit=900).stdout)
        if tale != on_linux:
            return fail(f"expected the same bytes as under {USER_EMULATOR}, found there\n{on_linux}")
    others = "this machine" if model else f"this machine and under {USER_EMULATOR}"
    print(f"passed: {len(tale)} bytes are equal on {cpus} CPUs of Ingot's kernel and on {others}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ingot", "kernel", "engine"):
        parser.add_argument(name)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--smollm2", action="store_true")
    arguments = parser.parse_args()
    missing = missing_tool(USER_EMULATOR)
    model = None
    if arguments.smollm2:
        model = find_smollm2()
        if model is None:
            missing = f"expected {SMOLLM2} in the user's cache, or its path in INGOT_SMOLLM2, found neither"
    if missing is not None:
        print(f"SKIPPED: {missing}")
        return SKIPPED
    words = QUESTION if model else []
    if arguments.tokens:
        words = [*words, "-n", str(arguments.tokens)]
    guest = Guest(arguments.ingot, arguments.kernel)
    try:
        return tell(guest, arguments.engine, arguments.cpus, model, words)
    finally:
        guest.close()


if __name__ == "__main__":
    sys.exit(main())
