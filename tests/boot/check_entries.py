#!/usr/bin/env python3
"""Looks at the kernel's first instructions after ring 3, as they were linked, where no emulator would miss anything.

usage: check_entries.py IMAGE.bare [--objdump PROGRAM]

A guess of the CPU about the ring, or about a check of an address, must not reach memory: LFENCE ends it. Emulators do not
guess, so no boot shows that it is there.
"""

import argparse
import re
import subprocess
import sys

# Label of an assembly source, which of its instructions, what it must be, and why.
EXPECTED = (
    ("in_kernel", 0, "lfence", "whether GS was exchanged is guessed until here"),
    ("in_kernel_anywhere", 0, "lfence", "whether GS was exchanged is guessed until here"),
    ("ingot_system_call_entry", 0, "swapgs", "nothing may come before, so that nothing is guessed"),
    ("ingot_copy_user", -1, "lfence", "whether the address is the program's is guessed until here"),
    ("ingot_user_words", 0, "rep", "trap.cc knows this as an instruction that may fault"),
    ("ingot_user_bytes", 0, "rep", "trap.cc knows this as an instruction that may fault"),
)


def instructions_of(listing: str, label: str) -> list[str]:
    found = re.search(rf"(?m)^[0-9a-f]+ <{label}>:\n((?:.+\n)*)", listing)
    if found is None:
        return []
    return [line.split(":", 1)[1].split()[0] for line in found[1].splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("--objdump", default="x86_64-linux-gnu-objdump")
    arguments = parser.parse_args()
    listing = subprocess.run([arguments.objdump, "-d", "--no-show-raw-insn", arguments.image],
                             check=True, capture_output=True, text=True).stdout  # fmt: skip
    problems = 0
    for label, index, wanted, reason in EXPECTED:
        instructions = instructions_of(listing, label)
        found = instructions[index] if instructions else "no such label"
        if found != wanted:
            place = "first" if index == 0 else "last"
            print(f"{label}: expected {wanted} as its {place} instruction ({reason}), found {found}")
            problems += 1
    print(f"{len(EXPECTED) - problems} of {len(EXPECTED)} entries are as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
