#!/usr/bin/env python3
"""Command lines that shells complete by the scripts of `ingot completion`.

usage: completion_test.py PATH_OF_INGOT [InBash|InZsh]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import Program
from run_cases import run_cases

program: Program

COMPLETE_IN_BASH = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_ingot
printf '%s\\n' "${COMPREPLY[@]}"
"""

# A terminal of zsh's own, in which a line is typed and a tab, as its own tests do.
COMPLETE_IN_ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -D -u; zstyle ":completion:*" list-grouped false'
zpty -w shell 'LISTMAX=10000; source '$1'; print -r be''gun'
zpty -m -r shell text '*begun*'
zpty -n -w shell $2$'\\t'
zpty -m -r shell text '*'$3'*' || exit 1
zpty -d shell
"""


class WithScripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def script(self, shell):
        done = program.run("completion", shell)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = Path(self.folder.name, shell)
        path.write_text(done.stdout, encoding="utf-8")
        return path


class InBash(WithScripts):
    def completed(self, *words):
        done = subprocess.run(
            ["bash", "-c", COMPLETE_IN_BASH, "bash", str(self.script("bash")), "ingot", *words],
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_it_completes_commands(self):
        self.assertEqual(self.completed("ru"), ["run"])
        self.assertIn("serve", self.completed(""))
        self.assertIn("model", self.completed("bench", ""))
        self.assertEqual(self.completed("completion", "z"), ["zsh"])

    def test_it_completes_the_options_of_the_innermost_command(self):
        self.assertEqual(self.completed("run", "model.gguf", "--sche"), ["--schema"])
        self.assertEqual(self.completed("machine", "--sche"), [])
        self.assertIn("--json", self.completed("bench", "model", "--"))

    def test_it_completes_the_words_that_an_option_takes(self):
        self.assertEqual(self.completed("run", "--cache", ""), ["f32", "f16", "q8_0"])
        self.assertEqual(self.completed("run", "--cache", "=", "q"), ["q8_0"])
        self.assertEqual(self.completed("run", "--cache", "="), ["f32", "f16", "q8_0"])

    def test_it_is_left_what_is_a_file(self):
        self.assertEqual(self.completed("run", "--schema", ""), [])
        self.assertEqual(self.completed("run", "-p", "-"), [])

    def test_another_shell_is_refused(self):
        done = program.run("completion", "fish")
        self.assertEqual(done.returncode, 2)
        self.assertIn("bash, zsh", done.stderr)


class InZsh(WithScripts):
    @unittest.skipUnless(shutil.which("zsh"), "expected the program zsh")
    def test_it_completes_commands_options_and_their_words(self):
        path = self.script("zsh")
        for line, expected in (
            ("ingot mach", "ingot machine"),
            ("ingot run --sche", "run --schema"),
            ("ingot run --cache q8", "--cache q8_0"),
            ("ingot completion b", "completion bash"),
        ):
            done = subprocess.run(
                ["zsh", "-f", "-c", COMPLETE_IN_ZSH, "zsh", str(path), line, expected],
                capture_output=True, text=True, timeout=60, env=dict(os.environ, TERM="dumb"), check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, f"{line}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = Program(Path(sys.argv[1]).resolve())
    run_cases([sys.argv[0], *sys.argv[2:]])
