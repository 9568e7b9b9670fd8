#!/usr/bin/env python3
"""What ingot says about itself, and how it refuses what it cannot do.

usage: usage_test.py PATH_OF_INGOT SOURCES [unittest arguments]
"""

import functools
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import Program

WIDEST_LINE = 120

program: Program
sources = Path()


@functools.cache
def help_of(*command):
    return program.run(*command, "--help")


def subcommands(*command):
    """Name and description of each, from the list in --help."""
    text = help_of(*command).stdout
    section = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    lines = section.group(1).splitlines() if section else []
    return [line.split(None, 1) for line in lines]


def all_commands(*command):
    """Every command and subcommand, as tuples of words."""
    for name, *_ in subcommands(*command):
        yield (*command, name)
        yield from all_commands(*command, name)


class Help(unittest.TestCase):
    def test_every_command_is_listed_with_one_line(self):
        listed = subcommands()
        self.assertGreater(len(listed), 15)
        for entry in listed:
            self.assertEqual(len(entry), 2, f"expected a name and a description on one line, found {entry}")
        self.assertEqual([line for line in help_of().stdout.splitlines() if len(line) > WIDEST_LINE], [])

    def test_every_command_has_examples_of_itself(self):
        for command in all_commands():
            done = help_of(*command)
            self.assertEqual(done.returncode, 0, command)
            _, found, examples = done.stdout.partition("Examples:\n")
            self.assertTrue(found, f"expected examples, found none: {command}")
            self.assertIn(" ".join(("ingot", *command)), examples)

    def test_every_command_that_does_something_has_json(self):
        for command in all_commands():
            text = help_of(*command).stdout
            if "Subcommands:" not in text and command != ("completion",):  # which writes a script
                self.assertIn("--json", text, command)

    def test_help_may_stand_first(self):
        for command in ((), ("run",), ("bench", "model")):
            done = program.run("help", *command)
            self.assertEqual((done.returncode, done.stdout), (0, help_of(*command).stdout))
        done = program.run("help", "bench", "nonsense")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("'nonsense'", done.stderr)

    def test_the_readme_lists_every_command(self):
        readme = (sources / "README.md").read_text(encoding="utf-8")
        for name, *_ in subcommands():
            self.assertRegex(readme, rf"`ingot {name}\b", "expected it in the table of commands")


class Version(unittest.TestCase):
    def test_it_says_what_it_was_made_of(self):
        done = program.run("--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^ingot \d+\.\d+\.\d+ \(")
        for word in ("compiler", "vectors", "models"):
            self.assertIn(word, done.stdout)

    def test_the_same_for_scripts(self):
        done = program.run("--version", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(
            set(document),
            {"version", "commit", "compiler", "architecture", "vector_targets", "model_architectures"},
        )
        self.assertIn(document["architecture"], ("x86_64", "aarch64"))
        self.assertTrue(document["vector_targets"])
        if document["commit"] is not None:
            self.assertRegex(document["commit"], r"^[0-9a-f]{12,}(-dirty)?$")

    def test_json_alone_is_bad_usage(self):
        self.assertEqual(program.run("--json").returncode, 2)

    def test_the_readme_counts_the_architectures_that_the_program_has(self):
        readme = (sources / "README.md").read_text(encoding="utf-8")
        counted = re.search(r"(\d+) architectures", readme)
        self.assertIsNotNone(counted)
        names = json.loads(program.run("--version", "--json").stdout)["model_architectures"]
        self.assertEqual(int(counted.group(1)), len(names), names)


class BadUsage(unittest.TestCase):
    def refused(self, *arguments):
        done = program.run(*arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "", arguments)
        return done.stderr

    def test_every_command_refuses_an_option_that_it_does_not_know(self):
        for command in all_commands():
            if subcommands(*command) and command != ("bench",):
                continue  # these want a subcommand first
            if command == ("completion",):
                continue  # which looks at the name of a shell first
            self.assertIn("'--no-such-option'", self.refused(*command, "--no-such-option", "4"))

    def test_a_command_without_its_subcommand_lists_them(self):
        for command in ("tales", "tokenizer", "import"):
            for name, *_ in subcommands(command):
                self.assertIn(name, self.refused(command))

    def test_nothing_at_all_shows_the_help(self):
        self.assertIn("Examples:", self.refused())

    def test_values_that_cannot_be_meant(self):
        for arguments in (
            ("run", "-n", "0"),
            ("run", "-n"),
            ("run", "--repetition-penalty", "0"),
            ("run", "--json", "--json=maybe"),
            ("train",),
            ("train", "--preset", "nonsense"),
            ("train", "--preset", "tiny", "--set", "steps"),
            ("train", "--preset", "tiny", "--set", "no_such_key=1"),
            ("train", "--preset", "tiny", "--type", "Q9_X"),
            ("quantize", "in", "out", "Q9_X"),
            ("boot", "--dry-run"),
            ("boot", "image", "--json"),
            ("cast", "-o", "image", "--file", "nonsense"),
            ("cast", "-o", "image", "--option", "word"),
            ("cast",),
            ("tokenizer", "train", "text", "--vocabulary", "1", "--output", "out"),
            ("verify", "no.such_operation"),
            ("bench", "norm.rms_norm", "--ladder"),
            ("kernels", "no_such_family"),
        ):
            self.assertTrue(self.refused(*arguments), arguments)

    def test_an_unknown_option_is_named_as_it_was_written_with_the_nearest_known(self):
        complaint = self.refused("run", "--max-tokens", "4")
        self.assertIn("found '--max-tokens'. Did you mean '--tokens'?", complaint)
        self.assertNotIn("4 --max-tokens", complaint)
        self.assertIn("ingot run --help", complaint)

    def test_no_option_is_guessed_that_only_has_its_dashes_in_common(self):
        self.assertNotIn("Did you mean", self.refused("chat", "--schema", "person.json"))

    def test_an_unknown_command_is_named_with_the_nearest_known(self):
        self.assertIn("found 'tokenise'. Did you mean 'tokenize'?", self.refused("tokenise"))

    def test_a_missing_argument_is_named(self):
        self.assertIn("ingot tokenize: expected TEXT, found none", self.refused("tokenize", "model.gguf"))
        self.assertIn("expected a value behind --tokens, found none", self.refused("run", "-n"))
        self.assertIn("ingot perplexity: expected FILE, found none", self.refused("perplexity"))

    def test_an_option_that_may_stand_once_stands_once(self):
        self.assertIn("expected --prompt once, found it 2 times", self.refused("run", "-p", "a", "-p", "b"))

    def test_a_text_that_looks_like_an_option_is_told_where_to_stand(self):
        complaint = self.refused("tokenize", "built-in:tales", "-item")
        self.assertIn("ingot tokenize ... -- '-item'", complaint)

    def test_a_misspelt_option_is_not_told_to_be_a_text(self):
        for arguments in (("run", "--nosuch"), ("tokenize", "built-in:tales", "--jsom"), ("machine", "-x")):
            self.assertNotIn("stands behind --", self.refused(*arguments))
        self.assertIn("Did you mean '--json'?", self.refused("tokenize", "built-in:tales", "--jsom"))

    def test_a_number_that_is_none_is_told_which_are(self):
        self.assertIn("--tokens: expected a whole number from 1 to 1073741824, found 'abc'", self.refused("run", "-n", "abc"))
        self.assertIn("--tokens: expected a whole number from 1 to 1073741824, found '1.5'", self.refused("run", "-n", "1.5"))
        self.assertIn("--top-p: expected a number from 0 to 1, found '2'", self.refused("run", "--top-p", "2"))

    def test_options_of_serve_are_refused_with_what_was_expected_and_what_to_do(self):
        for arguments, expected in (
            (("--log", "loud"), "--log: expected one of text, json, none, found 'loud'"),
            (("--cache-type", "q4"), "--cache-type: expected one of f32, f16, q8_0, found 'q4'"),
            (("--private-key", "k"), "expected --certificate beside --private-key, found --private-key alone: give both, or neither"),
            (("--verbose=maybe",), "--verbose: expected no value, true or false, found 'maybe'"),
            (("--port", "http"), "--port: expected a whole number from 0 to 65535, found 'http'"),
            (("--port",), "expected a value behind --port, found none"),
            (("--port", "1", "--port", "2"), "expected --port once, found it 2 times"),
            (("--cors", "https://a.org:443"), "expected 'https://a.org', as browsers spell it, found 'https://a.org:443'"),
        ):
            self.assertIn(expected, self.refused("serve", *arguments))
        complaint = self.refused("run", "--pack", "--no-pack")
        self.assertRegex(complaint, "expected --(no-)?pack or --(no-)?pack, found both: leave one of them out")

    def test_an_empty_value_is_none_of_the_next_word(self):
        for arguments, expected in (
            (("serve", "--api-key-file=", "keys"), "--api-key-file: expected the name of a file, found none"),
            (("serve", "--port=", "80"), "--port: expected a whole number from 0 to 65535, found ''"),
            (("run", "--tokens=", "4"), "--tokens: expected a whole number from 1 to 1073741824, found ''"),
            (("tokenizer", "train", "--vocabulary=", "300", "text", "--output", "out"), "vocabulary: expected 257"),
        ):
            self.assertIn(expected, self.refused(*arguments))

    def test_a_type_is_refused_with_its_name_once(self):
        self.assertIn("TYPE: expected one of F32, ", self.refused("quantize", "in", "out", "Q9_X"))

    def test_only_what_may_have_been_meant_is_suggested(self):
        self.assertNotIn("Did you mean", self.refused("verify", "nosuch.op"))
        self.assertIn("Did you mean 'norm.rms_norm'?", self.refused("verify", "norm.rms_nrom"))

    def test_an_option_behind_two_dashes_is_told_that_it_is_none_there(self):
        self.assertIn("behind -- nothing is an option", self.refused("tokenize", "built-in:tales", "--", "x", "--json"))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "file"
        self.file.write_bytes(b"GGUF, or what looks like it")

    def refused(self, *arguments):
        before = self.file.read_bytes()
        done = program.run(*arguments)
        self.assertEqual(done.returncode, 1, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertEqual(self.file.read_bytes(), before)
        return done.stderr

    def test_nothing_that_is_read_is_written_over(self):
        link = self.file.with_name("link")
        link.symlink_to(self.file)
        training = ("train", "--preset", "tiny", "--set", f"data={self.file}")
        for arguments in (
            ("explain", self.file, "--html", self.file),
            ("explain", self.file, "--html", link),
            (*training, "--output", self.file),
            (*training, "--set", f"checkpoint={link}"),
            (*training, "--set", f"log={self.file}"),
            (*training, "--set", f"plot={self.file}"),
        ):
            self.assertIn("output: expected another file than what is read", self.refused(*arguments))

    def test_a_model_is_no_text(self):
        complaint = self.refused("perplexity", self.file)
        self.assertIn("expected a text, found a model file: name the text behind it", complaint)

    def test_a_refused_write_is_a_failure(self):
        for arguments in (["--help"], ["run", "--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([program.path, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b"expected to write all of the output", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, sources = Program(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
