#!/usr/bin/env python3
"""`ingot cast` and `ingot boot` as a user meets them: equal bytes for equal inputs, refusals that say why, a boot.

usage: cast_test.py INGOT KERNEL
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

INGOT = KERNEL = None


def run(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([INGOT, *words], capture_output=True, text=True, check=False, timeout=300, **options)


class Cast(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.large = self.path("large")
        Path(self.large).write_bytes(os.urandom(3 << 20))

    def path(self, name: str) -> str:
        return str(Path(self.folder.name) / name)

    def cast(self, output: str, *words: str) -> subprocess.CompletedProcess:
        program = ["--program", "/bin/ls", "--file", f"{self.large}=/large"]
        return run("cast", *program, "-o", self.path(output), "--kernel", KERNEL, *words)

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
            done = self.cast("refused", *words) if words[0] != "--program" else run(
                "cast", *words, "-o", self.path("refused"), "--kernel", KERNEL)  # fmt: skip
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(reason, done.stderr)
            self.assertFalse(Path(self.path("refused")).exists())

    def test_usage_errors_are_told_apart(self):
        for words in (["cast"], ["cast", "-o", "x", "--memory", "much"], ["cast", "-o", "x", "--format", "floppy"]):
            self.assertEqual(run(*words).returncode, 2, words)
        self.assertEqual(run("boot", self.path("none")).returncode, 1)

    def test_a_cast_image_starts(self):
        self.assertEqual(self.cast("image", "--memory", "128M").returncode, 0)
        done = run("boot", self.path("image"), "--log", "--accelerator", "tcg", "--", "two words", stdin=subprocess.DEVNULL)
        self.assertIn("ingot: starting", done.stderr)
        self.assertIn("-- two%20words", done.stderr)
        self.assertIn("expected a program that stands alone", done.stderr)  # ls needs its interpreter
        self.assertEqual(done.returncode, 127)

    def test_the_tale_is_the_same_as_on_linux(self):
        words = ["run", "-n", "24", "--threads", "1"]
        here = run(*words)
        there = run("boot", "--kernel", KERNEL, "--accelerator", "tcg", "--", *words, stdin=subprocess.DEVNULL)
        self.assertEqual(there.returncode, 0, there.stderr)
        tale = here.stdout.strip()
        self.assertGreater(len(tale.split()), 10, here)
        self.assertIn(tale, there.stdout.replace("\r\n", "\n"))


if __name__ == "__main__":
    INGOT, KERNEL = sys.argv[1:3]
    if platform.machine() != "x86_64" or shutil.which("qemu-system-x86_64") is None:
        print("SKIPPED: needs a program for x86_64, of which the test takes this machine's, and QEMU")
        sys.exit(77)  # a skip to CTest
    unittest.main(argv=sys.argv[:1])
