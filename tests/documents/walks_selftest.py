#!/usr/bin/env python3
"""Proves that check_walks.py catches what it exists to catch, on small walks made for the purpose."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKER = Path(__file__).resolve().parent / "check_walks.py"

SOUND = """# Walks

## Down

1. `cli/run.cc`, `run`: calls `generate`, which
   does the rest.
2. `engine/generate.cc`, `generate`: hands `multiply` its columns.
3. aarch64: `kernels/multiply.cc`, `multiply`: the end.
"""


class CheckWalks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("cli/run.cc", "void run() { generate(); }\n")
        self.write("engine/generate.cc", "void generate() { multiply(); }\n")
        self.write("kernels/multiply.cc", "void multiply();\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check(self, page):
        self.write("docs/walks.md", page)
        done = subprocess.run([sys.executable, CHECKER, self.root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_caught(self, page, *expected):
        self.assertNotEqual(page, SOUND)
        status, output = self.check(page)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)

    def test_a_sound_walk_passes(self):
        status, output = self.check(SOUND)
        self.assertEqual(status, 0, output)
        self.assertIn("1 walks, 3 steps", output)

    def test_a_file_that_is_not_there(self):
        self.assert_caught(SOUND.replace("engine/generate.cc", "engine/gone.cc"), "step 2", "`engine/gone.cc`")

    def test_a_name_that_its_file_does_not_have(self):
        self.assert_caught(SOUND.replace("`run`:", "`start`:"), "step 1", "found `start`")

    def test_a_part_of_a_word_is_not_a_name(self):
        self.assert_caught(SOUND.replace("`generate`: hands", "`gener`: hands"), "step 2", "found `gener`")

    def test_a_step_without_a_name(self):
        self.assert_caught(SOUND.replace("`multiply`: the end", "the end"), "step 3", "expected a name")

    def test_a_step_that_does_not_lead_to_the_next(self):
        self.assert_caught(SOUND.replace("calls `generate`", "calls it"), "step 1", "expected a name that engine")

    def test_a_way_back_up(self):
        self.assert_caught(SOUND.replace("kernels/multiply.cc", "engine/generate.cc"), "step 3", "again")

    def test_a_step_left_out(self):
        self.assert_caught(SOUND.replace("3. aarch64", "4. aarch64"), "expected number 3, found 4")

    def test_a_long_walk(self):
        lines = []
        for number in range(1, 14):
            self.write(f"far/step{number}.cc", "void onward();\n")
            lines.append(f"{number}. `far/step{number}.cc`, `onward`: on.\n")
        self.assert_caught("## Far\n\n" + "".join(lines), "expected at most 12 steps, found 13")
        self.assertEqual(self.check("## Far\n\n" + "".join(lines[:-1]))[0], 0)

    def test_a_page_without_walks(self):
        self.assert_caught("# Walks\n\nNone yet.\n", "found none")

    def test_a_tree_without_the_page(self):
        done = subprocess.run([sys.executable, CHECKER, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
