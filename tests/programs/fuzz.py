#!/usr/bin/env python3
"""Boots fuzz_system_calls again and again, each time with another seed and number of CPUs, for a while.

usage: fuzz.py INGOT KERNEL PROGRAM [--seconds 30] [--seed FIRST] [--round SECONDS]

A round is good when the program ends by itself with status 0 in time, and the kernel, which checks locks, poisons freed
memory and counts what was not given back, says nothing of a panic and ends with `exit 0`. In half of the rounds the kernel's
allocations fail now and then. The first round that is not good ends all, with the words that repeat it. Exits 77 (a skip to CTest) where there is no QEMU.
"""

import argparse
import random
import sys
import time
from pathlib import Path

from guest import SKIPPED, Guest, missing_tool

PROCESSORS = (1, 2, 4)
# In every other three rounds one of so many allocations fails; with fewer no program would even start.
FAILING = (50, 150, 400, 3000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ingot", "kernel", "program"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the first round")
    parser.add_argument("--round", type=int, default=5, help="seconds of fuzzing in a round")
    parser.add_argument("--processors", type=int)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED fuzz: {missing}")
        return SKIPPED
    guest = Guest(arguments.ingot, arguments.kernel)
    end = time.monotonic() + arguments.seconds
    rounds = 0
    try:
        program = f"/bin/{Path(arguments.program).name}"
        cast = guest.cast("--program", arguments.program, "--tmpfs", "4M", "--consume", program)
        if cast.returncode != 0:
            sys.exit(f"fuzz: expected an image, found\n{cast.stderr}")
        while rounds == 0 or time.monotonic() < end:
            seed = arguments.seed + rounds
            processors = arguments.processors or PROCESSORS[seed % len(PROCESSORS)]
            options = ["--cpus", str(processors), "--memory", "96M", "--option", "check-locks", "--option", "poison"]
            if seed // len(PROCESSORS) % 2 == 1:
                options += ["--option", f"fail-allocations={FAILING[seed % len(FAILING)]}"]
            ended = guest.boot(str(seed), str(arguments.round), str(processors + 2), options=tuple(options),
                               seconds=60 + 6 * arguments.round)  # fmt: skip
            last = ended.log.splitlines()[-1:]
            told = [line for line in ended.output.splitlines() if line.startswith("fuzz: seed") and "calls by" in line]
            good = ended.status == 0 and told and last == ["exit 0"] and "panic" not in ended.log
            print(f"{'passed' if good else 'FAILED'} on {processors} CPUs: {told[0] if told else 'nothing was said'}", flush=True)
            if not good or arguments.show:
                print(ended.output[-4000:], ended.log[-12000:], sep="\n--- the kernel's log\n")
            if not good:
                print(f"FAILED fuzz: status {ended.status}; again by --seed {seed} --processors {processors} --seconds 0")
                return 1
            rounds += 1
    finally:
        guest.close()
    print(f"passed fuzz: {rounds} rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
