#!/usr/bin/env python3
"""Texts on their way to a model: from arguments, pipes, files and folders, whole or not.

usage: prompt_test.py PATH_OF_INGOT SOURCES [unittest arguments]
"""

import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from program import Program, Terminal

BUILT_IN = "built-in:tales"
LETTERS = '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}, "added_tokens": []}'

program: Program
sources = Path()


class PromptTest(unittest.TestCase):
    def json_of(self, command, *arguments, **options):
        done = program.run(command, "--json", *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def ids_of(self, text):
        return self.json_of("tokenize", BUILT_IN, "--", text)["ids"]

    def prompt_of(self, *arguments, **options):
        return self.json_of("run", "-n", "1", *arguments, **options)["prompt_ids"]


class StandardInput(PromptTest):
    def test_a_piped_text_is_the_prompt(self):
        self.assertEqual(self.prompt_of(text_in="Once there was a cook\n"), self.ids_of("Once there was a cook"))

    def test_a_piped_text_continues_that_of_the_option(self):
        found = self.prompt_of("-p", "Once there", text_in="was a cook\n")
        self.assertEqual(found, self.ids_of("Once there\nwas a cook"))

    def test_an_empty_pipe_is_no_prompt(self):
        self.assertEqual(self.prompt_of("-p", "Once", text_in=""), self.ids_of("Once"))
        self.assertEqual(self.prompt_of(text_in=""), self.prompt_of())

    def test_a_piped_text_is_tokenized_to_its_last_byte(self):
        pieces = self.json_of("tokenize", BUILT_IN, "--plain", text_in="Once\n")["pieces"]
        self.assertEqual("".join(pieces), "Once\n")

    def test_a_terminal_is_not_waited_for(self):
        with Terminal(program, "run", "-p", "Once", "-n", "1") as terminal:
            self.assertEqual(terminal.wait_for_end(60), 0)

    def test_help_says_so(self):
        self.assertIn("standard input", program.run("run", "--help").stdout)


class Dashes(PromptTest):
    def test_an_option_takes_a_text_that_begins_with_a_dash(self):
        for text in ("- item", "-item", "--item"):
            self.assertEqual(self.prompt_of("-p", text), self.ids_of(text))

    def test_arguments_take_one_behind_two_dashes(self):
        for text in ("- item", "-item", "--json"):
            pieces = self.json_of("tokenize", BUILT_IN, "--plain", "--", text)["pieces"]
            self.assertEqual("".join(pieces), text)


class Context(PromptTest):
    def test_a_context_beyond_the_models_is_warned_of(self):
        done = program.run("run", "-n", "1", "--context", "1000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"warning: expected a context of at most the \d+ tokens .* found 1000000")
        self.assertNotIn("warning", program.run("run", "-n", "1").stderr)

    def test_a_prompt_that_is_too_long_stands_in_no_error(self):
        text = "Once upon a time. " * 20
        done = program.run("run", "-p", text, "--context", "16")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Once upon", done.stderr)
        self.assertRegex(done.stderr, r"at most 16 tokens of context, found \d+: give a larger --context")
        self.assertRegex(done.stderr, r"this model's limit is \d+\b")


class Bytes(PromptTest):
    def test_bytes_that_are_no_text_are_shown_and_told(self):
        done = program.run("run", "-n", "1", text_in=b"Once \xff\xfe there")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Once \ufffd\ufffd there", done.stdout)
        self.assertIn("warning: the prompt: expected UTF-8, found 2 byte(s)", done.stderr)

    def test_bytes_without_a_token_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            vocabulary = json.loads(LETTERS)
            vocabulary["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
            (Path(folder) / "tokenizer.json").write_text(json.dumps(vocabulary))
            done = program.run("tokenize", folder, "abca", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["ids"], [0, 1, 0])
            self.assertIn("found 1 byte(s) that this model's vocabulary lacks", done.stderr)


class Places(PromptTest):
    def test_a_folder_with_tokenizer_json_is_enough_to_tokenize(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "tokenizer.json").write_text(LETTERS)
            for place in (folder, Path(folder) / "tokenizer.json"):
                self.assertEqual(self.json_of("tokenize", place, "ba")["ids"], [1, 0])

    def test_a_folder_with_one_gguf_file_is_a_model(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(sources / "models" / "tales.gguf", folder)
            self.assertEqual(self.prompt_of(folder, "-p", "Once"), self.ids_of("Once"))
            os.link(Path(folder) / "tales.gguf", Path(folder) / "other.gguf")
            done = program.run("run", folder, "-p", "Once")
            self.assertEqual(done.returncode, 1)
            self.assertIn("expected one .gguf file, found 2: give one of them", done.stderr)

    def test_a_safetensors_file_is_the_model_of_its_folder(self):
        golden = sources / "tests" / "goldens" / "llama"
        done = program.run("compare", golden / "model.safetensors", "--golden", golden / "golden.safetensors")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_safetensors_file_alone_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(sources / "tests" / "goldens" / "llama" / "model.safetensors", folder)
            done = program.run("run", Path(folder) / "model.safetensors", "-p", "x")
            self.assertEqual(done.returncode, 1)
            for word in ("config.json", "model.safetensors"):
                self.assertIn(word, done.stderr)

    def test_a_text_alone_is_scored_by_the_built_in_model(self):
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "tale.txt"
            text.write_text("Once there was a thoughtful cook named Ralf.")
            self.assertEqual(
                self.json_of("perplexity", text)["perplexity"],
                self.json_of("perplexity", BUILT_IN, text)["perplexity"],
            )

    def test_errors_name_the_file(self):
        golden = sources / "tests" / "goldens" / "llama"
        recorded = ("--golden", golden / "golden.safetensors")
        for arguments in (
            ("run", golden, "-p", "x"),
            ("tokenize", golden, "x"),
            ("chat", golden),
            ("embed", golden, "-p", "x"),
            ("compare", BUILT_IN, *recorded),
        ):
            done = program.run(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("goldens/llama", done.stderr, arguments)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, sources = Program(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
