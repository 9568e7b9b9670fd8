#!/usr/bin/env python3
"""Follows the walks of docs/walks.md through the tree.

usage: check_walks.py ROOT

A walk is a section with a numbered list. A step names a file first, then a function or type in it, then whatever else
it speaks of, all in backticks. Of every walk it is asked that
  - it has at most twelve steps, numbered from 1 on;
  - every file is there, and no file comes twice: nobody is sent back;
  - every name of a step is a word of its file, and of a longer piece in backticks (paths apart) every word;
  - a step names what the next one is about: at least one of its names is a word of the next step's file.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = "docs/walks.md"
MOST_STEPS = 12
SECTION = re.compile(r"^## +(.+)$", re.MULTILINE)
STEP = re.compile(r"^(\d+)\. +(.*(?:\n +\S.*)*)", re.MULTILINE)
QUOTED = re.compile(r"`([^`]+)`")
NAME = re.compile(r"\w+")


@dataclass
class Step:
    walk: str
    number: int
    file: str
    names: list[str]

    def place(self) -> str:
        return f"{PAGE}: {self.walk}, step {self.number}"


def walks_of(page: str) -> dict[str, list[Step]]:
    pieces = SECTION.split(page)[1:]
    walks = {}
    for title, section in zip(pieces[::2], pieces[1::2]):
        steps = []
        for match in STEP.finditer(section):
            quoted = QUOTED.findall(match[2])
            names = [word for text in quoted[1:] if "/" not in text for word in NAME.findall(text)]
            steps.append(Step(title, int(match[1]), quoted[0] if quoted else "", names))
        if steps:
            walks[title] = steps
    return walks


def problems_of(root: Path, steps: list[Step]) -> list[str]:
    problems = []
    if len(steps) > MOST_STEPS:
        problems.append(f"{steps[0].place()}: expected at most {MOST_STEPS} steps, found {len(steps)}")
    words: list[set[str]] = []
    for step in steps:
        file = root / step.file
        found = step.file != "" and file.is_file()
        words.append(set(NAME.findall(file.read_text(encoding="utf-8"))) if found else set())
        if not found:
            problems.append(f"{step.place()}: expected a file of the tree first, found `{step.file}`")
            continue
        if not step.names:
            problems.append(f"{step.place()}: expected a name in {step.file}, found none")
        for name in step.names:
            if name not in words[-1]:
                problems.append(f"{step.place()}: expected a word of {step.file}, found `{name}`")
    for index, step in enumerate(steps):
        if step.number != index + 1:
            problems.append(f"{step.place()}: expected number {index + 1}, found {step.number}")
        if step.file in [earlier.file for earlier in steps[:index]]:
            problems.append(f"{step.place()}: expected another file at each step, found {step.file} again")
        leads_on = index + 1 == len(steps) or not words[index + 1] or any(n in words[index + 1] for n in step.names)
        if not leads_on:
            problems.append(f"{step.place()}: expected a name that {steps[index + 1].file} has too, found none")
    return problems


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[1]).resolve()
    if not (root / PAGE).is_file():
        print(f"expected {PAGE} in {root}, found none", file=sys.stderr)
        return 2
    walks = walks_of((root / PAGE).read_text(encoding="utf-8"))
    problems = [problem for steps in walks.values() for problem in problems_of(root, steps)]
    if not walks:
        problems.append(f"{PAGE}: expected sections with numbered steps, found none")
    print("\n".join(problems))
    print(f"{len(walks)} walks, {sum(map(len, walks.values()))} steps: {len(problems)} of them lead nowhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
