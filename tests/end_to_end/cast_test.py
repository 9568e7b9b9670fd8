#!/usr/bin/env python3
"""`ingot cast` and `ingot boot` as a user meets them: equal bytes for equal inputs, refusals that say why, a boot.

usage: cast_test.py INGOT KERNEL
"""

import json
import os
import platform
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402

INGOT = KERNEL = None


class Cast(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(INGOT, KERNEL)
        self.addCleanup(self.guest.close)
        self.path = self.guest.path
        self.large = self.path("large")
        Path(self.large).write_bytes(os.urandom(3 << 20))

    def cast(self, output: str, *words: str) -> subprocess.CompletedProcess:
        program = ["--program", "/bin/ls", "--file", f"{self.large}=/large"]
        return self.guest.cast(*program, *words, image=output)

    def test_equal_inputs_give_equal_bytes_at_once(self):
        done = self.cast("first", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.cast("second").returncode, 0)
        self.assertEqual(Path(self.path("first")).read_bytes(), Path(self.path("second")).read_bytes())
        report = json.loads(done.stdout)
        self.assertEqual(report["bytes"], os.path.getsize(self.path("first")))
        self.assertIn({"path": "/large", "bytes": 3 << 20, "address": report["segments"][-1]["address"]}, report["segments"])

    def test_refusals_leave_nothing_and_say_why(self):
        foreign = bytearray(Path("/bin/ls").read_bytes())
        foreign[18] = 183
        Path(self.path("foreign")).write_bytes(foreign)
        for words, reason in (
            (["--memory", "4M"], "MiB of memory"),
            (["--file", "/no/such=/x"], "No such file or directory"),
            (["--file", "x"], "SOURCE=DESTINATION"),
            (["--program", self.path("foreign")], "found one for aarch64"),
        ):
            done = self.cast("refused", *words) if words[0] != "--program" else self.guest.run(
                "cast", *words, "-o", self.path("refused"), "--kernel", KERNEL)  # fmt: skip
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(reason, done.stderr)
            self.assertFalse(Path(self.path("refused")).exists())

    def test_usage_errors_are_told_apart(self):
        for words in (["cast"], ["cast", "-o", "x", "--memory", "much"], ["cast", "-o", "x", "--format", "floppy"]):
            self.assertEqual(self.guest.run(*words).returncode, 2, words)
        self.assertEqual(self.guest.run("boot", self.path("none")).returncode, 1)

    def test_a_cast_image_starts(self):
        self.assertEqual(self.cast("image", "--memory", "128M").returncode, 0)
        ended = self.guest.boot("two words")
        self.assertIn("ingot: starting", ended.log)
        self.assertIn("-- two%20words", ended.log)
        self.assertIn("cannot access 'two words'", ended.output)  # ls runs, with its interpreter and libraries
        self.assertEqual(ended.status, 2)

    def test_a_trace_names_calls_arguments_and_answers(self):
        done = self.guest.cast("--trace", image="traced")
        self.assertEqual(done.returncode, 0, done.stderr)
        words = ["run", "-n", "1", "--threads", "1"]
        ended = self.guest.boot(*words, image="traced")
        self.assertEqual(ended.status, 0, ended.log)
        for line in (
            r"\[1\] mmap\(0x0, \d+, 3, 34, -1, 0\) = 0x7[0-9a-f]{11} <\d+ us>",
            r"\[1\] openat\(-100, \"/[^\"]+\", [^)]*\) = (\d+|-1 ENOENT) <",
            r"\[1\] write\(1, 0x[0-9a-f]+, \d+\) = \d+ <\d+ us>",
            r"\[1\] exit_group\(0\) = ",
        ):
            self.assertRegex(ended.log, line)


if __name__ == "__main__":
    INGOT, KERNEL = sys.argv[1:3]
    if platform.machine() != "x86_64" or missing_tool() is not None:
        print("SKIPPED: needs a program for x86_64, of which the test takes this machine's, and QEMU")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
