#!/usr/bin/env python3
"""Writes the names of an image's functions as the table that os/trace/symbols.h reads.

usage: list_symbols.py NM IMAGE TABLE

TABLE gets the bytes, TABLE.S an assembly source that places them in the section .symbols. All numbers are 32 bits,
little-endian: the count; for each function, sorted, its distance from the kernel's base and its name, of which the lower 24
bits say where it begins and the upper 8 how long it is; one more such pair for the end; then the names, each once.
Neighbours of one name, as the instances of a template often are, count as one function.
"""

import re
import struct
import subprocess
import sys
from pathlib import Path

KERNEL_BASE = 0xFFFFFFFF80000000
LONGEST_NAME = 255


def short_name(name: str) -> str:
    """A function as a reader calls it: without parameters, return type, clones and the namespace that all share."""
    name = name.replace("(anonymous namespace)::", "").replace("ingot::os::", "").replace("ingot::", "")
    name = re.sub(r" \[clone [^]]*\]", "", name)
    depth = 0
    for index, letter in enumerate(name):
        if letter == "<":
            depth += 1
        elif letter == ">" and not name[:index].endswith("operator"):
            depth -= 1
        elif letter == "(" and depth == 0 and not name[:index].endswith("operator"):
            name = name[:index]
            break
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.split(" ")[-1] if "operator" not in name else name


def functions_of(nm: str, image: str) -> tuple[list[tuple[int, str]], int]:
    """The functions as (distance from the base, name), sorted, and where the last one ends."""
    listing = subprocess.run([nm, "--defined-only", image], capture_output=True, text=True, check=True).stdout
    # Parts that the compiler moved away are their functions' (and no demangler knows their names).
    listing = re.sub(r"\.(cold|part|constprop|isra)(\.\d+)*", "", listing)
    listing = subprocess.run(["c++filt"], input=listing, capture_output=True, text=True, check=True).stdout
    lines = [line.split(" ", 2) for line in listing.splitlines()]
    end = next(int(address, 16) for address, _, name in lines if name == "ingot_text_end") - KERNEL_BASE
    found = {}
    for address, kind, name in lines:
        offset = int(address, 16) - KERNEL_BASE
        if kind in "tTwW" and 0 <= offset < end and name != "ingot_text_begin":
            found.setdefault(offset, short_name(name))
    functions = sorted(found.items())
    return [each for index, each in enumerate(functions) if index == 0 or functions[index - 1][1] != each[1]], end


def main(arguments: list[str]) -> int:
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    nm, image, table = arguments[1:]
    functions, end = functions_of(nm, image)
    if not functions:
        print(f"symbols: expected functions in {image}, found none", file=sys.stderr)
        return 1
    pairs, names, places = b"", b"", {}
    for offset, name in functions:
        letters = name.encode()[:LONGEST_NAME]
        if letters not in places:
            places[letters] = len(names)
            names += letters
        pairs += struct.pack("<II", offset, places[letters] | len(letters) << 24)
    pairs += struct.pack("<II", end, 0)
    Path(table).write_bytes(struct.pack("<I", len(functions)) + pairs + names)
    Path(table + ".S").write_text(
        f'.section .symbols, "a"\n.balign 4\n.incbin "{table}"\n.section .note.GNU-stack, "", @progbits\n',
        encoding="utf-8",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
