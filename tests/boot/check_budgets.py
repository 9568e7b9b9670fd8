#!/usr/bin/env python3
"""Holds the OS kernel to its budgets: lines, the length of a file, the size of the image, a reason for every assembly.

usage: check_budgets.py ROOT [CORE_IMAGE KERNEL]

Why something is assembly is said in a comment that holds that word: at the head of the file, or within three lines above
the asm statement. CORE_IMAGE hosts no program; KERNEL is what is shipped. Without them no size is looked at.

The core's budget counts lines of code: what is neither blank nor comment, so that nobody saves an explanation to meet it.
"""

import re
import struct
import sys
from pathlib import Path

MOST_LINES_OF_A_FILE = 400
CORE_LINES = 8_000
CORE_BYTES = 256 * 1024
KERNEL_BYTES = 512 * 1024

COUNTED = {".h", ".cc", ".S", ".ld", ".py"}
# The core: from reset to threads on all CPUs. Drivers, what hosts programs, what only tests use, and scripts that build
# and debug are no part of it.
NOT_CORE = re.compile(
    r"^os/(device|file|process|syscall|debug|arch/hosted|schedule/interleavings)/|^os/arch/x86_64/(user|signal)_|\.py$|_test\.cc$|/fake_\w+\.h$"
    r"|_fixture\.h$|_for_tests\.h$|/test_\w+\.h$"
)
COMMENT = re.compile(r"^\s*(//|/?\*|$)")
ASSEMBLY = re.compile(r"\b(?:asm|__asm__)\b(?:\s+volatile|\s+goto)*\s*\(")
LOADABLE = 1  # PT_LOAD of the ELF specification


def segment_bytes(image: Path) -> int:
    """What the loadable segments take in the file: symbols for a debugger are not loaded and do not count."""
    content = image.read_bytes()
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", content, table + index * size) for index in range(count)]
    return sum(header[5] for header in headers if header[0] == LOADABLE)


def sources_of(root: Path) -> dict[str, list[str]]:
    paths = sorted(path for path in (root / "os").rglob("*") if path.suffix in COUNTED and path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8").splitlines() for path in paths}


def head_of(lines: list[str]) -> str:
    """The comment a file begins with."""
    head = []
    for line in lines:
        if not line.startswith("//"):
            break
        head.append(line)
    return "\n".join(head)


def unexplained_assembly(path: str, lines: list[str]) -> list[str]:
    def explains(text: str) -> bool:
        return "assembly" in text.lower()

    if path.endswith(".py") or explains(head_of(lines)):
        return []
    if path.endswith(".S"):
        return [f"{path}: expected a comment at its head that says why it is assembly, found none"]
    missing = []
    for index, line in enumerate(lines):
        code, _, comment = line.partition("//")
        comments = [above.partition("//")[2] for above in lines[max(0, index - 3) : index]] + [comment]
        if ASSEMBLY.search(code) and not any(explains(text) for text in comments):
            missing.append(f"{path}:{index + 1}: expected a comment above that says why it is assembly, found none")
    return missing


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 4):
        print(__doc__, file=sys.stderr)
        return 2
    sources = sources_of(Path(arguments[1]))
    if not sources:
        sys.exit(f"budgets: expected sources in {arguments[1]}/os, found none")
    problems, folders = [], {}
    for path, lines in sources.items():
        problems += unexplained_assembly(path, lines)
        if len(lines) > MOST_LINES_OF_A_FILE:
            problems.append(f"{path}: expected at most {MOST_LINES_OF_A_FILE} lines, found {len(lines)}")
        if not NOT_CORE.search(path):
            folder = folders.setdefault(Path(path).parent.as_posix(), [0, 0])
            folder[0] += sum(not COMMENT.match(line) for line in lines)
            folder[1] += len(lines)
    folders["the core, without drivers, tests and tools"] = [sum(counts) for counts in zip(*folders.values())]
    for folder, (code, every) in folders.items():
        print(f"{code:7,} lines of code, {every:7,} with comments  {folder}")
    if code > CORE_LINES:
        problems.append(f"os: expected at most {CORE_LINES} lines of code, found {code}")
    for image, budget in zip(arguments[2:], (CORE_BYTES, KERNEL_BYTES)):
        size = segment_bytes(Path(image))
        print(f"{size:7,} bytes  loaded of {Path(image).name}  (budget {budget:,})")
        if size > budget:
            problems.append(f"{image}: expected at most {budget} bytes in its segments, found {size}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
