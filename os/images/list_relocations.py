#!/usr/bin/env python3
"""Writes where an image holds its own addresses, for the move of os/arch/x86_64/move_kernel.cc.

usage: list_relocations.py IMAGE TABLE

IMAGE was linked with --emit-relocs. TABLE gets the words, TABLE.S an assembly source that places them in the section
.relocations: for each address the distance of its place from the kernel's base, in 32 bits, little-endian; the highest
bit is set where the address is physical. Addresses relative to the instruction need no word: all moves together.
"""

import struct
import sys
from pathlib import Path

KERNEL_BASE = 0xFFFFFFFF80000000
IMAGE = range(0x100000, 0x200001)  # physical addresses that belong to the image
PHYSICAL = 1 << 31
# Of the x86_64 ABI, table 4.9: name, and how the place is read, or None where a move changes nothing.
KINDS = {0: ("NONE", None), 1: ("64", "<Q"), 2: ("PC32", None), 4: ("PLT32", None), 10: ("32", "<I"), 11: ("32S", "<i")}
RELOCATIONS, ALLOCATED, WITHOUT_BYTES = 4, 2, 8  # SHT_RELA, SHF_ALLOC, SHT_NOBITS


def relocations_of(content: bytes) -> list[int]:
    table, = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    # name, type, flags, address, offset, size, link, info, alignment, entry size
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, table + index * size) for index in range(count)]
    words = []
    for section in sections:
        if section[1] != RELOCATIONS or not sections[section[7]][2] & ALLOCATED:
            continue
        target = sections[section[7]]
        for entry in range(section[4], section[4] + section[5], 24):
            address, information = struct.unpack_from("<QQ", content, entry)
            words += word_for(content, target, address, information & 0xFFFFFFFF)
    return sorted(words)


def word_for(content: bytes, section: tuple, address: int, kind: int) -> list[int]:
    place = address - KERNEL_BASE
    if kind not in KINDS or section[1] == WITHOUT_BYTES:
        sys.exit(f"relocations: expected a kind of {sorted(KINDS)}, found {kind} at offset {place:#x}")
    name, layout = KINDS[kind]
    if layout is None:
        return []
    value, = struct.unpack_from(layout, content, section[4] + address - section[3])
    if value == 0:
        return []  # a weak symbol that nobody defines: the slot of a pure virtual function
    if value % (1 << 64) >= KERNEL_BASE:
        return [place]
    if value in IMAGE:
        return [place | PHYSICAL]
    sys.exit(f"relocations: expected an address of the image, found {value:#x} at offset {place:#x} ({name})")


def main(arguments: list[str]) -> int:
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    image, table = arguments[1:]
    words = relocations_of(Path(image).read_bytes())
    if not words:
        print(f"relocations: expected some in {image}, found none (--emit-relocs)", file=sys.stderr)
        return 1
    Path(table).write_bytes(struct.pack(f"<{len(words)}I", *words))
    Path(table + ".S").write_text(
        f'.section .relocations, "a"\n.balign 4\n.incbin "{table}"\n.section .note.GNU-stack, "", @progbits\n',
        encoding="utf-8",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
