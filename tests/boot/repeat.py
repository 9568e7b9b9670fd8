#!/usr/bin/env python3
"""Boots a test image again and again: what depends on the order of CPUs fails seldom.

usage: repeat.py COUNT IMAGE SOURCE [run.py's options]

    tests/boot/repeat.py 50 build/os/x86_64/boot_smp_stress tests/boot/smp_stress.cc --processors 4

Every processor is a thread of its own unless --accelerator says otherwise. All runs are made, whatever becomes of the
first; the log of each that fails is printed. Exits 0 when none failed.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUN = Path(__file__).resolve().parent / "run.py"


def main(arguments: list[str]) -> int:
    if len(arguments) < 4 or not arguments[1].isdigit() or int(arguments[1]) == 0:
        print(__doc__, file=sys.stderr)
        return 2
    count, options = int(arguments[1]), arguments[2:]
    if not Path(options[0]).is_file():
        sys.exit(f"repeat: expected an image, found no file {options[0]}")
    if "--accelerator" not in options:
        options += ["--accelerator", "tcg,thread=multi"]
    seconds, failed = [], []
    for number in range(1, count + 1):
        begin = time.monotonic()
        done = subprocess.run([sys.executable, "-B", RUN, *options], capture_output=True, text=True, check=False)
        seconds.append(time.monotonic() - begin)
        if done.returncode != 0:
            failed.append(number)
            print(f"--- run {number} of {count}: status {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
            if done.returncode == 2 or "SKIPPED" in done.stdout:
                return done.returncode  # nothing was booted, nor will be
    print(
        f"{count - len(failed)} of {count} runs passed; seconds each: {min(seconds):.2f} to {max(seconds):.2f}, "
        f"median {statistics.median(seconds):.2f}" + (f"; failed: {failed}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
