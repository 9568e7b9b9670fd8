#!/usr/bin/env python3
"""How much the OS kernel does before its payload: guest instructions, counted exactly, and the size of its image.

usage: os_boot.py IMAGE

QEMU's instruction counter makes the guest's cycle counter advance by one an instruction, so that the kernel's own report
("started in ... cycles") is the count from its first instruction. The same image gives the same count on every host.
"""

import re
import struct
import subprocess
import sys
from pathlib import Path

BUDGET = 2_000_000  # instructions in 128 MiB; three times that in 4 GiB
IMAGE_BUDGET = 256 * 1024
STARTED = re.compile(r"started in \d+ us, (\d+) cycles")
LOADABLE = 1  # PT_LOAD of the ELF specification


def segment_bytes(image: Path) -> int:
    """What the loadable segments take in the file."""
    content = image.read_bytes()
    table, = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", content, table + index * size) for index in range(count)]
    return sum(header[5] for header in headers if header[0] == LOADABLE)


def count_instructions(image: Path, memory: int) -> int:
    command = [
        "qemu-system-x86_64", "-machine", "microvm", "-accel", "tcg", "-cpu", "max", "-m", f"{memory}M", "-smp", "1",
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-kernel", str(image), "-append", "debug-exit",
        "-chardev", "stdio,id=log", "-device", "isa-debugcon,iobase=0xe9,chardev=log",
        "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4",
        "-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01,clock=vm", "-seed", "1",
    ]  # fmt: skip
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    found = STARTED.search(done.stdout)
    if found is None:
        sys.exit(f"os_boot: expected a line 'started in ... cycles', found:\n{done.stdout}{done.stderr}")
    return int(found[1])


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    image = Path(sys.argv[1])
    within = True
    for memory, budget in ((128, BUDGET), (4096, 3 * BUDGET)):
        count = count_instructions(image, memory)
        within &= count <= budget
        print(f"{memory:5} MiB  {count:>9,} guest instructions to the payload  (budget {budget:,})")
    size = segment_bytes(image)
    within &= size <= IMAGE_BUDGET
    print(f"image      {size:>9,} bytes of segments  (budget {IMAGE_BUDGET:,})")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
