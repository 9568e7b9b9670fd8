#!/usr/bin/env python3
"""Compiles every word of device sources (kernels/device) with the device's compiler, and with the host's.

usage: compile_words.py ROOT HOST_COMPILER

nvcc is the program that INGOT_NVCC names, or the one on the path; without either this is skipped. A word that neither
all_words.cu nor a source of kernels uses is an error: nobody would have compiled it.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
FLAGS = ["-std=c++20", "-fmad=false", "--expt-relaxed-constexpr", "--Werror", "all-warnings"]
CHIPS = ["80", "90a"]
WORD = re.compile(r"INGOT_ON_DEVICE\s+[\w:<>*&\s]*?\b(\w+)(?:<\w+>)?\(")
# What words are made of, on one side alone.
INNER = {"words_of", "vector_of", "shared_address", "address_of_row", "operator"}


def device_words(root: Path) -> set[str]:
    """Functions that the device's meaning of the headers has: those of the host's alone are left out."""
    return set(definitions(root)) - INNER


def definitions(root: Path) -> collections.Counter:
    """How often the device's meaning of the headers defines each name."""
    found = collections.Counter()
    for header in sorted((root / "kernels" / "device").glob("*.h")):
        text = re.sub(r"^#else\n.*?^#endif\n", "", header.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        found.update(WORD.findall(text))
    return found


def unused_words(root: Path) -> list[str]:
    """Those of which there is no more in all sources than their definitions, on both sides."""
    sources = [root / "tests/device/all_words.cu", *root.glob("kernels/**/*.cu"), *root.glob("kernels/**/*.h")]
    named = collections.Counter()
    for source in sources:
        named.update(re.findall(r"\w+", source.read_text(encoding="utf-8")))
    defined = collections.Counter()
    for header in (root / "kernels" / "device").glob("*.h"):
        defined.update(WORD.findall(header.read_text(encoding="utf-8")))
    return sorted(word for word in device_words(root) if named[word] <= defined[word])


def compiles(command: list[str]) -> bool:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(command), done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def main(arguments: list[str]) -> int:
    root, host_compiler = Path(arguments[1]), arguments[2]
    source = str(root / "tests/device/all_words.cu")
    unused = unused_words(root)
    if len(device_words(root)) < 80 or unused:
        print(f"expected every word to be used, found {len(device_words(root))} words, not used: {unused}")
        return 1
    if not compiles([host_compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(root), "-x",
                     "c++", source]):  # fmt: skip
        return 1
    nvcc = os.environ.get("INGOT_NVCC") or shutil.which("nvcc")
    if nvcc is None:
        print("SKIPPED: expected nvcc on the path or named by INGOT_NVCC, found neither")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        chips = [part for chip in CHIPS for part in ("-gencode", f"arch=compute_{chip},code=sm_{chip}")]
        if not compiles([nvcc, *FLAGS, *chips, "-I", str(root), "-fatbin", source, "-o", f"{folder}/words.fatbin"]):
            return 1
    print(f"{len(device_words(root))} words compiled for the host and for {len(CHIPS)} chips")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
