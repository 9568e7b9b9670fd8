#!/usr/bin/env python3
"""What NVIDIA's compute-sanitizer finds in all rows of a GPU, over the reduced set of cases, and in passes of a model: addresses
outside of what was allocated, misaligned ones, and shared memory that two threads touch without a barrier between them.

usage: sanitizer_on_a_gpu.py PATH_OF_INGOT_GPU [--sanitizer PATH_OF_COMPUTE_SANITIZER] [--seconds 60] [unittest arguments]

Races are looked for in all families at once, as far as the seconds reach: the tool makes rows much slower. Which families were left out
is told, and is a skip.
"""

import shutil
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from device_cases import options, run_device_cases, tell

# Those that share memory among threads first.
FAMILIES = ("norm", "linear", "attention", "sampling", "routing", "elementwise", "loss", "state", "cache", "quantization",
            "position", "layout", "activation")  # fmt: skip
FOUND = 9  # exit code


def sanitizer():
    path = options.extra.sanitizer or shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if path is None:
        raise unittest.SkipTest("expected compute-sanitizer on the PATH, or --sanitizer, found neither")
    return path


class Sanitizer(unittest.TestCase):
    def check(self, tool, *words, limit=240):
        """The seconds that it took; None where that was more than the limit."""
        command = [sanitizer(), "--tool", tool, "--error-exitcode", FOUND, options.program.path, *words, "--device", options.device]
        begin = time.monotonic()
        try:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return None
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said[-3000:])
        self.assertRegex(said, r"(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)", said[-3000:])
        return time.monotonic() - begin

    def test_addresses_of_rows(self):
        seconds = self.check("memcheck", "verify", "--reduced", "--limit", "0")
        self.assertIsNotNone(seconds)
        tell(f"memcheck over all rows: nothing found in {seconds:.0f} s")

    def test_addresses_of_passes(self):
        self.assertIsNotNone(self.check("memcheck", "run", "-p", "Once upon a time", "-n", "8", "--temperature", "0"))
        tell("memcheck over passes of the built-in model: nothing found")

    def test_races(self):
        """Many families at once: most of the time is the host's."""
        end = time.monotonic() + options.extra.seconds

        def look_into(family):
            try:
                seconds = self.check("racecheck", "verify", family, "--reduced", "--limit", "0", limit=max(1, end - time.monotonic()))
            except AssertionError as found:
                return str(found)
            return "" if seconds is not None else None

        with ThreadPoolExecutor(len(FAMILIES)) as pool:
            found = dict(zip(FAMILIES, pool.map(look_into, FAMILIES), strict=True))
        done = [family for family in FAMILIES if found[family] == ""]
        left_out = [family for family in FAMILIES if found[family] is None]
        tell(f"racecheck: nothing found in {', '.join(done) or 'no family'}")
        self.assertEqual("".join(filter(None, found.values())), "")
        if left_out:
            self.skipTest(f"expected time for all families, found none for {', '.join(left_out)}")


if __name__ == "__main__":
    run_device_cases(__doc__, ("--sanitizer", "compute-sanitizer"), ("--seconds", "for races", 60.0))
