#!/usr/bin/env python3
"""Reads what the assembler said of every device function (BUILD/device/MODULE.txt) and compares it with what its source
allows.

usage: check_reports.py ROOT FOLDER_OF_REPORTS

Without a word in its source a function has 64 registers, so that an SM's 65,536 hold 1024 threads of it, 16 KiB of static shared
memory, so that blocks are held back by threads and not by it, no stack, and it spills nothing. What takes more says so in its
source, with the reason, and what spills is counted on the last line:

    // Budget of attend_rows_16: 168 registers, 43 KiB shared. A warp keeps ...
    // Budget of rope_heads: 40 bytes stack. Sines of large angles ...

Exits 77 where no compiler for devices was there.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

SKIPPED = 77
KIB = 1024
SOURCES = ("kernels/**/*_cuda.cu", "docs/learn/**/*_cuda.cu", "profile/**/*_cuda.cu", "machine/**/*_cuda.cu")
ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
BUDGET = re.compile(r"Budget of ([\w, ]+): ([^.]+)\.")
PART = re.compile(r"(\d+) (registers|KiB shared|bytes stack|bytes spilled)$")


@dataclass
class Need:
    """What a function takes, or may take."""

    registers: int = 64
    shared: int = 16 * KIB
    stack: int = 0
    spilled: int = 0

    def above(self, budget: "Need") -> list[str]:
        wrong = []
        for what, unit in (("registers", "registers"), ("shared", "bytes of shared memory"), ("stack", "bytes of stack"),
                           ("spilled", "bytes spilled")):  # fmt: skip
            found, most = getattr(self, what), getattr(budget, what)
            if found > most:
                wrong.append(f"expected at most {most} {unit}, found {found}")
        return wrong


def read_report(text: str) -> dict[tuple[str, str], Need]:
    """By function and chip."""
    needs = {}
    key = None
    for line in text.splitlines():
        if match := ENTRY.search(line):
            key = match.group(1), match.group(2)
            needs[key] = Need(0, 0, 0, 0)
        elif key is None:
            continue
        elif match := FRAME.search(line):
            needs[key].stack = int(match.group(1))
            needs[key].spilled = int(match.group(2)) + int(match.group(3))
        elif match := USED.search(line):
            needs[key].registers = int(match.group(1))
            if match := SHARED.search(line):
                needs[key].shared = int(match.group(1))
    return needs


def read_budgets(source: str) -> dict[str, Need]:
    budgets = {}
    joined = re.sub(r"\n\s*//", "", source)  # a comment's lines as one
    for names, parts in BUDGET.findall(joined):
        budget = Need()
        for part in parts.split(", "):
            match = PART.fullmatch(part.strip())
            if match is None:
                raise ValueError(f"expected a number of registers, KiB shared, bytes stack or bytes spilled, found '{part}'")
            number = int(match.group(1))
            if match.group(2) == "registers":
                budget.registers = number
            elif match.group(2) == "KiB shared":
                budget.shared = number * KIB
            elif match.group(2) == "bytes stack":
                budget.stack = number
            else:
                budget.spilled = number
        for name in names.split(","):
            budgets[name.strip()] = budget
    return budgets


def compare(source: str, report: str) -> list[str]:
    """What is wrong with a module."""
    needs = read_report(report)
    budgets = read_budgets(source)
    wrong = [] if needs else ["expected a function in the assembler's report, found none"]
    for name in sorted(set(budgets) - {function for function, _ in needs}):
        wrong.append(f"{name}: expected a function of that name for its budget, found none")
    for (function, chip), need in needs.items():
        wrong += [f"{function} ({chip}): {text}" for text in need.above(budgets.get(function, Need()))]
    return wrong


def main(arguments: list[str]) -> int:
    root, reports = Path(arguments[1]), Path(arguments[2])
    sources = sorted(path for pattern in SOURCES for path in root.glob(pattern))
    if not any(reports.glob("*.txt")):
        print(f"SKIPPED: expected reports in {reports}, found none: no compiler for devices made the "
              f"{len(sources)} modules; make gpu")  # fmt: skip
        return SKIPPED
    functions = failures = spilling = 0
    for source in sources:
        report = reports / f"{source.stem}.txt"
        if not report.exists():
            print(f"{source.relative_to(root)}: expected a report {report}, found none")
            failures += 1
            continue
        text = report.read_text(encoding="utf-8")
        functions += len(read_report(text))
        spilling += sum(need.spilled > 0 for need in read_report(text).values())
        wrong = compare(source.read_text(encoding="utf-8"), text)
        failures += len(wrong)
        for line in wrong:
            print(f"{source.relative_to(root)}: {line}")
    print(f"{functions} functions of {len(sources)} modules: {failures} beyond their budget, {spilling} spill")
    return 1 if failures > 0 or functions == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
