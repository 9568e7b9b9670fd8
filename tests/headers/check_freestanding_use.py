#!/usr/bin/env python3
"""Compiles freestanding_use.cc as the OS would and checks that it calls nothing of a hosted library.

usage: check_freestanding_use.py ROOT COMPILER NM

A header may compile freestanding and still call into the library from a template: only the object file tells. GCC's
manual (Standards, freestanding) names the functions that even a freestanding environment must provide; strlen joins
them, because std::string_view measures a literal with it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

PROVIDED_BY_THE_ENVIRONMENT = {"memcpy", "memmove", "memset", "memcmp", "abort", "strlen"}
FLAGS = "-std=c++20 -O1 -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -fno-pic -Wall -Wextra -Werror"


def undefined_symbols(nm: str, object_file: Path) -> set[str]:
    listing = subprocess.run([nm, "--undefined-only", object_file], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listing.splitlines() if line.strip()}


def main(arguments: list[str]) -> int:
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    root, compiler, nm = arguments[1:]
    source = Path(__file__).resolve().parent / "freestanding_use.cc"
    with tempfile.TemporaryDirectory() as folder:
        object_file = Path(folder) / "use.o"
        command = [compiler, *FLAGS.split(), f"-I{root}", "-c", source, "-o", object_file]
        if subprocess.run(command, check=False).returncode != 0:
            print("freestanding: expected base to compile without a hosted library, found the errors above")
            return 1
        unexpected = undefined_symbols(nm, object_file) - PROVIDED_BY_THE_ENVIRONMENT
    if unexpected:
        print(f"freestanding: expected no call into a library, found {', '.join(sorted(unexpected))}")
        return 1
    print("freestanding: base calls nothing of a hosted library")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
