"""Images of a small program, and how `ingot cast` and `ingot boot` are held to what they refuse."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from run_cases import run_cases

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402


class Images(unittest.TestCase):
    ingot: str  # all by run_image_tests()
    kernels: str
    program: str

    def setUp(self):
        self.guest = Guest(self.ingot, self.kernels)
        self.addCleanup(self.guest.close)
        self.path = self.guest.path
        self.large = self.path("large")
        Path(self.large).write_bytes(os.urandom(3 << 20))

    def cast(self, output: str, *words: str) -> subprocess.CompletedProcess:
        return self.guest.cast("--program", self.program, "--file", f"{self.large}=/large", *words, image=output)

    def assert_bad_usage(self, words: list[str], expected: str) -> None:
        """One message, before anything is begun."""
        with self.subTest(words):
            done = self.guest.run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
            self.assertNotIn("qemu-system", done.stderr)
            self.assertNotIn("warning: ", done.stderr)


def run_image_tests() -> None:
    """Of the file that was started with the paths of ingot, kernels and tests/programs/hello, and names of tests."""
    Images.ingot, Images.kernels, Images.program = sys.argv[1:4]
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases([sys.argv[0], *sys.argv[4:]])
