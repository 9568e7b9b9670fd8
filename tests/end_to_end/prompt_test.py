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


class Files(PromptTest):
    def test_a_file_is_the_prompt_but_for_its_last_lines_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "prompt.txt"
            path.write_text("Once there\nwas a cook\n")
            for option in ("-f", "--prompt-file"):
                self.assertEqual(self.prompt_of(option, path), self.ids_of("Once there\nwas a cook"))
            self.assertEqual(self.prompt_of("-f", path, text_in="named"), self.ids_of("Once there\nwas a cook\nnamed"))
            self.assertEqual(program.run("run", "-f", path, "-p", "x").returncode, 2)
            missing = program.run("run", "-f", Path(folder) / "none.txt")
            self.assertEqual(missing.returncode, 1)
            self.assertIn("none.txt", missing.stderr)


class Ends(PromptTest):
    """Where a text ends, and what the model thought on the way."""

    def test_a_text_ends_before_a_stop_string(self):
        whole = self.json_of("run", "-n", "60")
        stop = whole["text"].split()[9] + " " + whole["text"].split()[10]
        cut = self.json_of("run", "-n", "60", "--stop", "no such text", "--stop", stop)
        self.assertEqual(cut["text"], whole["text"].partition(stop)[0])
        self.assertEqual((cut["stop"], cut["stop_string"]), ("stop string", stop))
        shown = program.run("run", "-n", "60", "--stop", stop)
        self.assertNotIn(stop, shown.stdout)
        self.assertIn("stop string]", shown.stderr)

    def test_a_stop_string_that_only_begins_is_shown(self):
        whole = self.json_of("run", "-n", "12")
        found = self.json_of("run", "-n", "12", "--stop", whole["text"][-3:] + " and never this")
        self.assertEqual(found["text"], whole["text"])

    def test_probabilities_are_told_of_every_token(self):
        found = self.json_of("run", "-n", "4", "--logprobs", "3")
        self.assertEqual([row["id"] for row in found["logprobs"]], found["ids"])
        for row in found["logprobs"]:
            self.assertLessEqual(row["logprob"], 0)
            self.assertEqual(len(row["most_likely"]), 3)
            self.assertEqual(row["most_likely"][0]["id"], row["id"], "greedy")
            self.assertEqual(row["most_likely"][0]["logprob"], row["logprob"])
        self.assertEqual(program.run("run", "--logprobs", "3").returncode, 2)


class Vectors(PromptTest):
    def test_a_model_that_predicts_tokens_makes_embeddings(self):
        embedded = {}
        for pooling in ("last", "first", "mean"):
            options = () if pooling == "last" else ("--pooling", pooling)
            found = self.json_of("embed", "-p", "Once there", "-p", "Once there was", *options)
            self.assertEqual(found["pooling"], pooling)
            embedded[pooling] = [row["embedding"] for row in found["embeddings"]]
            for vector in embedded[pooling]:
                self.assertAlmostEqual(sum(value * value for value in vector), 1, places=4)
        each = self.json_of("embed", "-p", "Once there was", "--pooling", "none")["embeddings"]
        self.assertEqual(len(each), each[0]["tokens"])
        # A token sees what is before it and nothing else.
        for a, b in zip(embedded["first"][0], embedded["first"][1]):
            self.assertAlmostEqual(a, b, places=4)
        for whole, place in (("first", 0), ("last", -1)):
            for a, b in zip(embedded[whole][1], each[place]["embedding"]):
                self.assertAlmostEqual(a, b, places=5)
        self.assertNotEqual(embedded["last"][0], embedded["last"][1])


class Comparison(PromptTest):
    def test_two_settings_and_two_models_are_timed_in_turn(self):
        short = ("--prompt", "4", "--generate", "2", "--repeat", "2")
        for sides in (("threads=1", "threads=1,cache=q8_0"), (BUILT_IN, BUILT_IN)):
            done = program.run("bench", "model", "--json", *short, "--compare", *sides)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            self.assertEqual([side["side"] for side in found["sides"]], list(sides))
            for ratio in ("prefill_ratio", "decode_ratio"):
                self.assertGreater(found[ratio]["median"], 0)
                self.assertIn("spread", found[ratio])
        for wrong, code in (("threads=0", 2), ("cache=f8", 2), ("pack=maybe", 2), ("/nowhere.gguf", 1)):
            done = program.run("bench", "model", *short, "--compare", "threads=1", wrong)
            self.assertEqual(done.returncode, code, wrong)
            self.assertIn("expected", done.stderr, wrong)


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


class Shapes(PromptTest):
    """What is generated is held to a shape."""

    def text_of(self, *arguments):
        return self.json_of("run", "-p", "Once there was", "-n", "200", *arguments)

    def with_file(self, option, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "shape"
            path.write_text(text)
            return program.run("run", "--json", "-p", "Once", "-n", "200", option, path, *arguments)

    def test_one_of_several_texts(self):
        given = ("--choice", "red, blue,green"), ("--choice", " red", "--choice", "b,e", "--choice", "green ")
        allowed = ("red", "blue", "green"), (" red", "b,e", "green ")
        for seed in range(5):
            for options, texts in zip(given, allowed):
                found = self.text_of(*options, "--temperature", "2", "--seed", str(seed))
                self.assertIn(found["text"], texts)
                self.assertEqual(found["stop"], "end of generation")

    def test_nothing_but_the_answer_is_written(self):
        done = program.run("run", "-p", "Once there was", "--choice", "yes,no", "--threads", "1")
        self.assertIn((done.returncode, done.stdout), ((0, "yes\n"), (0, "no\n")))

    def test_a_regular_expression(self):
        found = self.text_of("--regex", "[a-c]{3}-\\d{2,4}!", "--temperature", "1")
        self.assertRegex(found["text"], r"\A[a-c]{3}-\d{2,4}!\Z")

    def test_a_schema(self):
        schema = {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 3, "maximum": 99}},
            "required": ["name", "age"],
            "additionalProperties": False,
        }
        for seed in range(5):
            done = self.with_file("--schema", json.dumps(schema), "--temperature", "1.5", "--seed", str(seed))
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(json.loads(done.stdout)["text"])
            self.assertEqual(list(found), ["name", "age"])
            self.assertLessEqual(len(found["name"]), 12)
            self.assertIn(found["age"], range(3, 100))

    def test_a_grammar(self):
        done = self.with_file("--grammar", 'root ::= "(" root ")" | "x"', "--temperature", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = json.loads(done.stdout)["text"]
        depth = len(text) // 2
        self.assertEqual(text, "(" * depth + "x" + ")" * depth)

    def test_what_is_not_enforced_is_named_with_the_file(self):
        done = self.with_file("--schema", '{"items": {"uniqueItems": true}}')
        self.assertEqual(done.returncode, 1)
        for word in ("shape", "'uniqueItems'", "'/items'"):
            self.assertIn(word, done.stderr)

    def test_a_folder_is_no_shape(self):
        for option in ("--schema", "--grammar"):
            done = program.run("run", "-p", "Once", option, ".")
            self.assertEqual(done.returncode, 1)
            for word in ("'.'", "found a folder"):
                self.assertIn(word, done.stderr)

    def test_whether_the_text_is_whole_is_said(self):
        for pattern, is_complete in (("a{600}", False), ("a{1,600}", True), ("ab", True)):
            done = program.run("run", "--json", "-p", "Once", "-n", "3", "--regex", pattern)
            self.assertIs(json.loads(done.stdout)["complete"], is_complete, pattern)
            self.assertEqual(done.returncode, 0 if is_complete else 1, pattern)
            self.assertEqual("a larger -n" in done.stderr, not is_complete)
        self.assertNotIn("complete", self.json_of("run", "-p", "Once", "-n", "3"))

    def test_one_shape_at_a_time(self):
        done = program.run("run", "--regex", "a", "--choice", "a,b")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--choice", done.stderr)

    def test_an_empty_shape_is_not_taken_for_none(self):
        for option, text in (("--regex", ""), ("--choice", ""), ("--choice", "yes,"), ("--choice", ",yes"), ("--choice", "a,,b")):
            done = program.run("run", "-p", "Once", "-n", "3", option, text)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (option, text))
            for word in (option, "expected", "found none"):
                self.assertIn(word, done.stderr)


class Sessions(PromptTest):
    """What was computed is written, and gone on from."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "session"

    def run_on(self, *arguments):
        return self.json_of("run", "--threads", "1", *arguments)

    def test_a_text_goes_on_as_if_it_had_not_stopped(self):
        whole = self.run_on("-p", "Once there was a cook.", "-n", "30")
        first = self.run_on("-p", "Once there was a cook.", "-n", "10", "--save-session", self.path)
        second = self.run_on("-n", "12", "--load-session", self.path, "--save-session", self.path)
        third = self.run_on("-n", "8", "--load-session", self.path)
        self.assertEqual(first["ids"] + second["ids"] + third["ids"], whole["ids"])
        self.assertEqual(second["prompt_ids"], first["ids"][-1:])

    def test_a_text_follows_what_was_written(self):
        self.run_on("-p", "Once there was", "-n", "1", "--save-session", self.path)
        found = self.run_on("-p", " a cook.", "-n", "4", "--load-session", self.path)
        self.assertEqual(len(found["ids"]), 4)

    def test_what_cannot_be_gone_on_from_is_refused(self):
        self.run_on("-p", "Once", "-n", "4", "--save-session", self.path)
        content = self.path.read_bytes()
        for options in (("--cache", "f32"), ("--context", "3")):
            done = program.run("run", *options, "-p", "a", "-n", "2", "--load-session", self.path)
            self.assertEqual(done.returncode, 1, (options, done.stdout, done.stderr))
        self.path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        done = program.run("run", "-p", "a", "--load-session", self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("checksum", done.stderr)
        for options in (("--load-session", ""), ("--save-session", ""), ("--tools", self.path, "--save-session", "x")):
            self.assertEqual(program.run("run", "-p", "a", *options).returncode, 2, options)
        done = program.run("run", "-p", "a", "-n", "2", "--save-session", self.path / "nowhere")
        self.assertEqual(done.returncode, 1)


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
            self.assertIn("expected one .gguf file, or the pieces of one model, found 2: give one of them", done.stderr)

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
