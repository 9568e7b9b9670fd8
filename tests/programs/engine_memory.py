#!/usr/bin/env python3
"""Memory as the engine needs it: how little is enough, that no page is missing once it generates, and initrds.

usage: engine_memory.py INGOT KERNEL INITRD_PROGRAM

- A machine with the bytes of the image, the engine's own memory at its peak and 8 MiB more tells the tale.
- Forty more tokens cause no page fault: the kernel counts as many for both tales.
- A separate initrd is shown in place by small pages, and the kernel counts that (tests/programs/initrd.cc).

Exits 77 (a skip to CTest) where there is no QEMU, or no engine for x86_64.
"""

import os
import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

from guest import EMULATOR, SKIPPED, Guest, missing_tool

MIB = 1 << 20
COUNTS = re.compile(r"program: (\d+) page faults; at most (\d+) KiB of its own")


def tell(guest: Guest, tokens: int, mebibytes: int) -> tuple[int, int]:
    """Page faults, and bytes of the engine's own."""
    ended = guest.boot("run", "-n", str(tokens), "--threads", "1", options=("--memory", f"{mebibytes}M"), seconds=200)
    counts = COUNTS.search(ended.log)
    if ended.status != 0 or counts is None:
        sys.exit(f"FAILED: expected {tokens} tokens in {mebibytes} MiB, found\n{ended.output}\n{ended.log}")
    return int(counts[1]), int(counts[2]) << 10


def check_engine(guest: Guest):
    cast = guest.cast()
    if cast.returncode != 0:
        sys.exit(f"FAILED: expected an image of the engine, found\n{cast.stderr}")
    image = os.path.getsize(guest.path("image"))
    _, own = tell(guest, 1, 128)
    least = (image + own + 8 * MIB) // MIB
    few, _ = tell(guest, 2, least)
    more, _ = tell(guest, 42, least)
    print(f"engine: image {image} bytes, at most {own} bytes of its own: runs in {least} MiB; page faults {few} and {more}")
    # Addresses differ from boot to boot, and with them by one or two how many pages a range takes.
    if abs(more - few) > 2:
        sys.exit("FAILED: expected no page fault while it generates, found some")


def check_initrd(guest: Guest, program: str):
    words = 3 * MIB // 8 + 100
    Path(guest.path("initrd")).write_bytes(struct.pack(f"<{words}Q", *range(words)))
    cast = guest.cast("--program", program)
    if cast.returncode != 0:
        sys.exit(f"FAILED: expected an image, found\n{cast.stderr}")
    done = subprocess.run(
        [EMULATOR, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "microvm", "-m", "64",
         "-accel", "tcg", "-cpu", "max", "-kernel", guest.path("image"), "-initrd", guest.path("initrd"), "-append", "debug-exit",
         "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4", "-serial", "stdio"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    told = re.search(r"initrd: (\d+) bytes, (\d+) in place by small pages, (\d+) fell back, (\d+) large", done.stdout)
    print(told[0] if told else done.stdout)
    pages = words * 8 // 4096
    # Large pages would have fitted within all but the ends.
    if told is None or int(told[1]) != words * 8 or int(told[2]) < pages or int(told[3]) < 512 or int(told[4]) != 0:
        sys.exit("FAILED: expected an initrd in place by small pages, found another")


def main() -> int:
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED engine_memory: {missing}")
        return SKIPPED
    guest = Guest(*sys.argv[1:3])
    try:
        check_initrd(guest, sys.argv[3])
        if platform.machine() != "x86_64":
            print("SKIPPED engine_memory: needs the engine for x86_64, of which the test takes this machine's")
            return SKIPPED
        check_engine(guest)
    finally:
        guest.close()
    print("passed engine_memory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
