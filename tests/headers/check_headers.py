#!/usr/bin/env python3
"""Checks that every header of the tree compiles alone, and twice in a row.

A header that some listed source includes first was compiled alone by the build already, so it is not compiled again:
compile_commands.json says which sources the build compiles one by one. One that neither changed nor includes what did
(--changed) compiles as it did before. What many headers include is precompiled for them (preludes.py says why that is
still alone), and a header is compiled behind one that it includes (chains.py).
Headers named *-inl.h are Highway's per-target pieces and only mean something inside its loop over targets.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from chains import choose_chains
from preludes import Includes, choose_preludes

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


def touched_by(changed: set[str], includes: Includes, headers: list[str]) -> list[str]:
    return [header for header in headers if header in changed or changed & includes.behind(header)]


def twice(header: str) -> str:
    return f'#include "{header}"\n#include "{header}"\n'


def complaint_of(command: list[str], source: str = "") -> str | None:
    """What the compiler has against its input, or None."""
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


class Compiler:
    """Compiles headers alone, each after its prelude where it has one."""

    def __init__(self, command: list[str], preludes: dict[str, str], folder: Path):
        self.command = command
        self.preludes = preludes
        self.places = {prelude: folder / f"{number}.h" for number, prelude in enumerate(sorted(set(preludes.values())))}

    def precompile(self, prelude: str) -> list[tuple[str, str]]:
        """One that does not compile is told with what the compiler has against it, and left out where others would come
        behind it."""
        place = self.places[prelude]
        place.write_text(twice(prelude), encoding="utf-8")
        complaint = complaint_of([*self.command, "-x", "c++-header", str(place), "-o", f"{place}.gch"])
        if complaint is None:
            return []
        self.places[prelude] = None
        return [(prelude, complaint)]

    def compile_chain(self, headers: list[str]) -> list[tuple[str, str]]:
        """The headers of the chain that do not compile, each with what the compiler has against it."""
        place = self.places.get(self.preludes.get(headers[0]))
        before = [] if place is None else ["-include", str(place)]
        source = "".join(map(twice, headers))
        complaint = complaint_of([*self.command, *before, "-fsyntax-only", "-x", "c++", "-"], source)
        if complaint is None:
            return []
        if len(headers) == 1:
            return [(headers[0], complaint)]
        # Whose it is: a header before may be what is wrong, and so may the one that includes it.
        guilty = [found for header in headers for found in self.compile_chain([header])]
        return guilty or [(" then ".join(headers), complaint)]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--folder", default=".", help="look only under this folder of the root")
    parser.add_argument("--except", dest="excepted", action="append", default=[], help="but not under this folder")
    parser.add_argument("--freestanding", action="store_true", help="compile as the OS would: no hosted library")
    parser.add_argument("--compile-commands", type=Path, help="skip headers that the build proves")
    parser.add_argument("--changed", type=Path, help="a file with names, one a line: leave out what these do not touch")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no compilation after that time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("flags", nargs="*", help="further compiler flags, after --")
    return parser.parse_args()


def main() -> int:
    begin = time.monotonic()
    arguments = parse_arguments()
    headers = headers_under(arguments.root, arguments.folder)
    headers = [header for header in headers if not any(header.startswith(f"{folder}/") for folder in arguments.excepted)]
    if not headers:
        print(f"headers: expected headers under {arguments.root / arguments.folder}, found none", file=sys.stderr)
        return 2
    proven = set()
    if arguments.compile_commands is not None and arguments.compile_commands.is_file():
        proven = proven_by_the_build(arguments.compile_commands)
    includes = Includes(arguments.root)
    remaining = [header for header in headers if header not in proven]
    untouched = 0
    if arguments.changed is not None:
        touched = touched_by(set(arguments.changed.read_text(encoding="utf-8").splitlines()), includes, remaining)
        untouched = len(remaining) - len(touched)
        remaining = touched

    command = [arguments.compiler, "-std=c++20", f"-I{arguments.root}", *WARNINGS]
    command += [*(FREESTANDING if arguments.freestanding else []), *arguments.flags]
    preludes = choose_preludes(includes, remaining)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        compiler = Compiler(command, preludes, Path(folder))
        left: list[str] = []

        def in_time(names: list[str], complaints: Callable[[], list[tuple[str, str]]]) -> list[tuple[str, str]]:
            if time.monotonic() - begin < arguments.seconds:
                return complaints()
            left.extend(names)
            return []

        def precompile_in_time(prelude: str) -> list[tuple[str, str]]:
            return in_time([prelude], lambda: compiler.precompile(prelude))

        def compile_in_time(names: list[str]) -> list[tuple[str, str]]:
            return in_time(names, lambda: compiler.compile_chain(names))

        # What was not precompiled in time, nothing waits for: whatever comes behind it is left out, too.
        precompiled = list(compiler.places)
        failed = list(chain.from_iterable(pool.map(precompile_in_time, precompiled)))
        groups: dict[str | None, list[str]] = {}
        for header in remaining:
            if header not in compiler.places:
                groups.setdefault(preludes.get(header), []).append(header)
        chains = [names for group in groups.values() for names in choose_chains(includes, group)]
        failed += chain.from_iterable(pool.map(compile_in_time, chains))

    for header, text in failed:
        print(f"{header}: expected to compile alone, found:\n{text}")
    print(
        f"headers: {len(remaining) - len(left)} compiled alone ({len(precompiled)} preludes, {len(chains)} chains), "
        f"{len(proven & set(headers))} proven by the build, {untouched} that no change touches, "
        f"{len(left)} left out for time, {len(failed)} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
