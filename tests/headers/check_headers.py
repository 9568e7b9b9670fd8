#!/usr/bin/env python3
"""Checks that every header of the tree compiles alone, and twice in a row.

A header that some listed source includes first was compiled alone by the build already, so it is not compiled again:
compile_commands.json says which sources the build compiles one by one. Headers named *-inl.h are Highway's per-target
pieces and only mean something inside its loop over targets.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED_FOLDERS = {"build", "__pycache__"}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
FREESTANDING = ["-ffreestanding", "-fno-exceptions", "-fno-rtti", "-nostdlib"]
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def headers_under(root: Path, folder: str) -> list[str]:
    found = []
    for directory, subfolders, names in os.walk(root / folder):
        subfolders[:] = [name for name in subfolders if not name.startswith(".") and name not in SKIPPED_FOLDERS]
        for name in names:
            if name.endswith(".h") and not name.endswith("-inl.h"):
                found.append((Path(directory) / name).relative_to(root).as_posix())
    return sorted(found)


def proven_by_the_build(compile_commands: Path) -> set[str]:
    """Headers that a source compiled on its own includes before anything else. A unity source proves nothing, nor does
    one that begins with a precompiled header."""
    proven = set()
    for entry in json.loads(compile_commands.read_text(encoding="utf-8")):
        source = Path(entry["directory"]) / entry["file"]
        if source.suffix != ".cc" or not source.is_file() or "cmake_pch" in entry["command"]:
            continue
        first = INCLUDE.search(source.read_text(encoding="utf-8", errors="replace"))
        if first is not None:
            proven.add(first[1])
    return proven


def compile_alone(command: list[str], header: str) -> str | None:
    """The compiler's complaint, or None."""
    source = f'#include "{header}"\n#include "{header}"\n'
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--folder", default=".", help="look only under this folder of the root")
    parser.add_argument("--except", dest="excepted", action="append", default=[], help="but not under this folder")
    parser.add_argument("--freestanding", action="store_true", help="compile as the OS would: no hosted library")
    parser.add_argument("--compile-commands", type=Path, help="skip headers that the build proves")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("flags", nargs="*", help="further compiler flags, after --")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    headers = headers_under(arguments.root, arguments.folder)
    headers = [header for header in headers if not any(header.startswith(f"{folder}/") for folder in arguments.excepted)]
    if not headers:
        print(f"headers: expected headers under {arguments.root / arguments.folder}, found none", file=sys.stderr)
        return 2
    proven = set()
    if arguments.compile_commands is not None and arguments.compile_commands.is_file():
        proven = proven_by_the_build(arguments.compile_commands)
    remaining = [header for header in headers if header not in proven]

    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", f"-I{arguments.root}", *WARNINGS]
    command += [*(FREESTANDING if arguments.freestanding else []), *arguments.flags, "-x", "c++", "-"]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        complaints = list(pool.map(lambda header: compile_alone(command, header), remaining))

    failed = [(header, text) for header, text in zip(remaining, complaints) if text is not None]
    for header, text in failed:
        print(f"{header}: expected to compile alone, found:\n{text}")
    print(
        f"headers: {len(remaining)} compiled alone, {len(headers) - len(remaining)} proven by the build, "
        f"{len(failed)} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
