#!/usr/bin/env python3
"""Checks that every #include of the tree obeys docs/floors.txt.

usage: check_floors.py [ROOT]

A floor may include only itself and lower floors. Each violation is printed as file:line with what was expected and
what was found; the exit status is 1 if there is any, 2 if the tree or docs/floors.txt cannot be read.
"""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

SOURCE_SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".inc", ".S", ".c", ".cpp", ".hpp"}
SKIPPED_FOLDERS = {"build", "__pycache__"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


class FloorsError(Exception):
    """docs/floors.txt is missing, or a line of it makes no sense."""


@dataclass
class Folder:
    name: str
    floor: tuple[int, int]
    only: frozenset[str] | None = None  # None: every lower floor

    def floor_text(self) -> str:
        return str(self.floor[0]) if self.floor[1] == 0 else f"{self.floor[0]}.{self.floor[1]}"


@dataclass
class Floors:
    folders: dict[str, Folder] = field(default_factory=dict)
    allowed: set[tuple[str, str]] = field(default_factory=set)
    tests_may_include: set[str] = field(default_factory=set)

    def folder_of(self, path: str) -> Folder | None:
        """The folder with the longest name that holds the path (relative to the root)."""
        parts = path.split("/")[:-1]
        for length in range(len(parts), 0, -1):
            folder = self.folders.get("/".join(parts[:length]))
            if folder is not None:
                return folder
        return None

    def may_include(self, source: Folder, target: Folder, is_test: bool) -> bool:
        if source is target or (source.name, target.name) in self.allowed:
            return True
        if is_test and (target.name in self.tests_may_include or self._same_whole_floor(source, target)):
            return True
        if source.only is not None:
            return target.name in source.only
        return target.floor < source.floor

    @staticmethod
    def _same_whole_floor(source: Folder, target: Folder) -> bool:
        return source.only is None and target.only is None and source.floor[0] == target.floor[0]

    def expectation(self, source: Folder, is_test: bool) -> str:
        if source.only is not None:
            text = "only " + ", ".join(sorted(source.only)) if source.only else "nothing outside it"
        else:
            text = f"only floors below {source.floor_text()}"
        exceptions = sorted(target for name, target in self.allowed if name == source.name)
        if is_test:
            exceptions += [f"floor {source.floor[0]} (a test)"] + sorted(self.tests_may_include)
        return text + (" or " + ", ".join(exceptions) if exceptions else "")


def parse_floor(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?", text)
    if match is None:
        raise FloorsError(f"expected a floor such as 2 or 2.1, found '{text}'")
    return int(match[1]), int(match[2] or 0)


def parse_line(words: list[str], floors: Floors) -> None:
    if words[0] == "allow":
        if len(words) != 4 or words[2] != "->":
            raise FloorsError(f"expected 'allow <folder> -> <folder>', found '{' '.join(words)}'")
        floors.allowed.add((words[1], words[3]))
    elif words[0] == "tests-may-include":
        floors.tests_may_include.update(words[1:])
    elif len(words) == 2:
        add_folder(floors, Folder(words[0], parse_floor(words[1])))
    elif len(words) >= 3 and words[2] == "only":
        add_folder(floors, Folder(words[0], parse_floor(words[1]), frozenset(words[3:])))
    else:
        raise FloorsError(f"expected '<folder> <floor> [only <folder>...]', found '{' '.join(words)}'")


def add_folder(floors: Floors, folder: Folder) -> None:
    if folder.name in floors.folders:
        raise FloorsError(f"expected each folder once, found '{folder.name}' again")
    floors.folders[folder.name] = folder


def read_floors(path: Path) -> Floors:
    if not path.is_file():
        raise FloorsError(f"{path}: expected the list of floors, found no such file")
    floors = Floors()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        try:
            parse_line(words, floors)
        except FloorsError as error:
            raise FloorsError(f"{path}:{number}: {error}") from None
    mentioned = {name for pair in floors.allowed for name in pair} | floors.tests_may_include
    for folder in floors.folders.values():
        mentioned |= folder.only or set()
    for name in sorted(mentioned - floors.folders.keys()):
        raise FloorsError(f"{path}: expected a folder with a floor, found '{name}' in an exception only")
    return floors


def sources_under(root: Path) -> list[str]:
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if not name.startswith(".") and name not in SKIPPED_FOLDERS]
        for name in names:
            if Path(name).suffix in SOURCE_SUFFIXES:
                found.append((Path(folder) / name).relative_to(root).as_posix())
    return sorted(found)


def check_include(root: Path, floors: Floors, source: str, quote: str, included: str) -> str | None:
    """What is wrong with one include, or None."""
    folder = floors.folder_of(source)
    target = floors.folder_of(included)
    in_tree = (root / included).is_file()
    if not in_tree and quote == '"' and (root / source).parent.joinpath(included).is_file():
        return f'expected an include path from the root, found "{included}" relative to its folder'
    if target is None or (quote == "<" and not in_tree):
        return None  # a library's header
    is_test = source.endswith("_test.cc")
    if floors.may_include(folder, target, is_test):
        return None
    return (
        f"expected {folder.name} (floor {folder.floor_text()}) to include {floors.expectation(folder, is_test)}, "
        f'found "{included}" of {target.name} (floor {target.floor_text()})'
    )


def check_source(root: Path, floors: Floors, source: str) -> list[str]:
    if floors.folder_of(source) is None:
        return [f"{source}:1: expected a folder that docs/floors.txt lists, found none for this file"]
    problems = []
    text = (root / source).read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        problem = check_include(root, floors, source, match[1], match[2])
        if problem is not None:
            problems.append(f"{source}:{number}: {problem}")
    return problems


def check_tree(root: Path) -> tuple[int, list[str]]:
    """The number of files read, and every violation."""
    floors = read_floors(root / "docs" / "floors.txt")
    sources = sources_under(root)
    return len(sources), [problem for source in sources for problem in check_source(root, floors, source)]


def main(arguments: list[str]) -> int:
    if len(arguments) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[1]) if len(arguments) == 2 else Path(__file__).resolve().parents[2]
    try:
        count, problems = check_tree(root)
    except FloorsError as error:
        print(f"floors: {error}", file=sys.stderr)
        return 2
    if count == 0:
        print(f"floors: expected sources under {root}, found none", file=sys.stderr)
        return 2
    for problem in problems:
        print(problem)
    print(f"floors: {count} files read, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
