#!/usr/bin/env python3
"""The Python package, as it lies in the build folder: held against the program, NumPy's formulas and goldens of others.

usage: python_package_test.py PATH_OF_INGOT FOLDER_OF_THE_PACKAGE ROOT [unittest arguments]
"""

import gc
import json
import os
import re
import runpy
import signal
import struct
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from embedder import make_embedder
from program import Program
from run_cases import run_cases

MISSING = "SKIPPED: expected a Python with headers, pybind11 and NumPy when the tree was configured, found none"
try:
    import numpy as np
except ImportError:
    print(MISSING)
    sys.exit(77)

PROMPT = "Once there was a thoughtful cook named Ralf."
TEMPLATE = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}{{ ending }}"
SAMPLING = {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.01, "seed": 7}

program: Program
root: Path


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": np.float32, "I64": np.int64}
    tensors = {}
    for name, row in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in row["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], kinds[row["dtype"]]).reshape(row["shape"])
    return tensors


def printed(*arguments):
    done = program.run(*arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class ModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ingot.Model(threads=1)

    def assert_refused(self, words, call, *arguments, **options):
        with self.assertRaises(ingot.Error) as caught:
            call(*arguments, **options)
        self.assertIn(words, str(caught.exception))
        return caught.exception


class Generation(ModelTest):
    def test_the_same_seed_gives_the_text_of_the_program(self):
        words = [word for name, value in SAMPLING.items() for word in ("--" + name.replace("_", "-"), value)]
        expected = printed("run", "-p", PROMPT, "-n", 40, "--threads", 1, "--json", *words)
        stream = self.model.generate(PROMPT, max_tokens=40, stream=True, **SAMPLING)
        self.assertEqual("".join(stream), expected["text"])
        report = stream.report
        self.assertEqual((report["tokens"], report["reason"]), (expected["ids"], expected["stop"]))
        self.assertEqual(self.model.generate(PROMPT, max_tokens=40, **SAMPLING), expected["text"])

    def test_a_stream_is_pieces_of_the_text(self):
        pieces = list(self.model.generate(PROMPT, max_tokens=16, stream=True))
        self.assertGreater(len(pieces), 8)
        self.assertNotIn("", pieces)
        self.assertEqual("".join(pieces), self.model.generate(PROMPT, max_tokens=16))

    def test_a_prompt_may_be_tokens(self):
        tokens = self.model.tokenizer.encode(PROMPT)
        self.assertEqual(self.model.generate(tokens, max_tokens=8), self.model.generate(PROMPT, max_tokens=8))
        self.assert_refused("expected tokens from 0 to", self.model.generate, [10**6])
        self.assert_refused("at least one token", self.model.generate, [])

    def test_a_stop_ends_the_text_and_is_no_part_of_it(self):
        whole = self.model.generate(PROMPT, max_tokens=40)
        stop = whole[20:24]
        self.assertEqual(self.model.generate(PROMPT, max_tokens=40, stop=["@@", stop]), whole[: whole.index(stop)])

    def test_an_answer_keeps_to_its_shape(self):
        self.assertIn(self.model.generate(PROMPT, choice=["yes", "no"]), ("yes", "no"))
        self.assertRegex(self.model.generate(PROMPT, regex="[0-9]{3}"), r"\A[0-9]{3}\Z")
        self.assertIn(self.model.generate(PROMPT, grammar='root ::= "a" | "b"'), ("a", "b"))
        answer = json.loads(self.model.generate(PROMPT, schema={"type": "array", "maxItems": 2, "items": {"enum": [1]}}))
        self.assertIn(answer, ([], [1], [1, 1]))
        self.assert_refused("expected a whole answer, found it cut by the token limit", self.model.generate, PROMPT,
                            regex="[a-z]{400}", max_tokens=3)  # fmt: skip
        self.assert_refused("expected", self.model.generate, PROMPT, regex="(")
        with self.assertRaises(TypeError):
            self.model.generate(PROMPT, regex="a", choice=["a"])

    def test_a_closed_stream_gives_its_sequence_back(self):
        stream = self.model.generate(PROMPT, stream=True)
        next(stream)
        self.assert_refused("sequence", self.model.generate, PROMPT)
        stream.close()
        self.assertEqual(list(stream), [])
        forgotten = self.model.generate(PROMPT, stream=True)
        next(forgotten)
        del forgotten
        gc.collect()
        self.model.generate(PROMPT, max_tokens=2)

    def test_two_streams_take_turns(self):
        model = ingot.Model(threads=1, sequences=2, deterministic=True)
        alone = [list(model.generate(text, max_tokens=8, stream=True)) for text in (PROMPT, "A dog")]
        together = zip(*(model.generate(text, max_tokens=8, stream=True) for text in (PROMPT, "A dog")))
        for turn, pieces in enumerate(together):
            self.assertEqual(list(pieces), [alone[0][turn], alone[1][turn]])

    def test_wrong_options_are_told_as_by_the_program(self):
        wanted = self.assert_refused("temperature", self.model.generate, PROMPT, temperature=-1.0)
        self.assertEqual(wanted.code, "invalid argument")
        self.assert_refused("max_tokens", self.model.generate, PROMPT, max_tokens=0)
        self.assert_refused("expected cache as f32, f16 or q8_0", self.model.session, cache="f8")
        path = "/nowhere/model.gguf"
        told = program.run("run", path, "-p", PROMPT).stderr
        self.assertIn(str(self.assert_refused(path, ingot.Model, path)), told)

    def test_control_c_ends_a_generation(self):
        long = ingot.Model(threads=1, context=20000)
        for prompt, options in ((PROMPT * 1500, {}), (PROMPT, {"regex": "[a-z ]{18000}", "max_tokens": 18000})):
            with self.assertRaises(KeyboardInterrupt):
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                long.generate(prompt, **options)
        self.assertEqual(long.generate(PROMPT, max_tokens=4), self.model.generate(PROMPT, max_tokens=4))
        # Whoever keeps the error keeps what it passed through, as an interactive Python does: not the sequence.
        kept = None
        try:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            long.generate(PROMPT * 1500)
        except KeyboardInterrupt as error:
            kept = error
        self.assertIsNotNone(kept)
        long.generate(PROMPT, max_tokens=1)

    def test_control_c_ends_a_forward(self):
        session = self.model.session(context=20000)
        tokens = self.model.tokenizer.encode(PROMPT * 1500)
        with self.assertRaises(KeyboardInterrupt):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            session.forward(tokens)
        self.assertLess(session.length(), len(tokens))
        session.truncate(0)
        np.testing.assert_array_equal(session.forward(tokens[:9]), self.model.session().forward(tokens[:9]))

    def test_others_run_meanwhile_and_a_second_thread_is_refused(self):
        model = ingot.Model(threads=1, context=20000)
        model.generate(PROMPT, max_tokens=1)
        stream = model.generate(PROMPT, regex="[a-z ]{18000}", max_tokens=18000, stream=True)
        results = []

        def read():
            while not results:
                try:
                    results.append(stream.rest())
                except ingot.Error:
                    pass  # the other thread looked just then

        waiting = threading.Thread(target=read)
        waiting.start()
        # That this thread runs at all, while the other computes, is what is seen: it would have to wait for the end.
        refused = None
        while refused is None and waiting.is_alive():
            try:
                stream.report  # noqa: B018
            except ingot.Error as error:
                refused = error
        self.assertIn("one thread at a time", str(refused))
        self.assertEqual(refused.code, "would block")
        waiting.join()
        self.assertEqual(len(results[0]), 18000)

    def test_a_fork_is_refused(self):
        self.model.generate(PROMPT, max_tokens=1)
        child = os.fork()
        if child == 0:
            try:
                self.model.generate(PROMPT, max_tokens=1)
            except ingot.Error as error:
                os._exit(0 if "found a fork" in str(error) else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class Files(ModelTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "text.session"

    def test_a_text_goes_on_from_a_file(self):
        whole = self.model.generate(PROMPT, max_tokens=16)
        first = self.model.generate(PROMPT, max_tokens=8, save_session=self.path)
        there = printed("run", "--load-session", self.path, "-n", 8, "--threads", 1, "--json")
        self.assertEqual(first + there["text"], whole)
        stream = self.model.generate("", max_tokens=8, load_session=self.path, save_session=self.path, stream=True)
        self.assertEqual(first + "".join(stream), whole)
        self.assertEqual(stream.report["prompt_tokens"], 1)  # the token that no pass had seen
        self.model.generate(" And", max_tokens=1, load_session=str(self.path))

    def test_files_of_others_are_refused_and_no_sequence_is_lost(self):
        self.model.generate(PROMPT, max_tokens=2, save_session=self.path)
        other = ingot.Model(threads=1, cache="f32")
        self.assert_refused("as this session keeps them", other.generate, "", load_session=self.path)
        self.assert_refused("/nowhere", self.model.generate, PROMPT, max_tokens=2, save_session="/nowhere/at/all")
        self.assert_refused("/nowhere", self.model.generate, PROMPT, load_session="/nowhere/at/all")
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        self.assert_refused("the file's checksum", self.model.generate, "", load_session=self.path)
        self.model.generate(PROMPT, max_tokens=2)

    def test_a_sequence_goes_on_in_another_session(self):
        session, other, tokens = self.model.session(), self.model.session(), [1, 5, 9]
        session.forward(tokens)
        session.save(self.path, [*tokens, 7])
        self.assertEqual((other.load(self.path), other.length()), ([*tokens, 7], 3))
        np.testing.assert_array_equal(other.forward([7]), session.forward([7]))
        self.assert_refused("an empty sequence", other.load, self.path)
        self.assert_refused("all 4 tokens", session.save, self.path, tokens)
        self.assert_refused("expected tokens from 0 to", session.save, self.path, [*tokens, -1])
        self.assert_refused("a sequence that exists", session.load, self.path, sequence=9)


class Logits(ModelTest):
    def test_logits_are_those_of_others(self):
        folder = root / "tests/goldens/llama"
        golden = read_safetensors(folder / "golden.safetensors")
        session = ingot.Model(folder, threads=1, cache="f32").session()
        logits = session.forward(golden["tokens.0"], outputs="all")
        np.testing.assert_allclose(logits, golden["logits.0"], atol=1e-4)
        # In several passes.
        many, model = golden["tokens.0"].tolist() * 80, ingot.Model(folder, threads=1, cache="f32", context=4096)
        rows = model.session().forward(many, outputs="all")
        self.assertEqual(rows.shape, (len(many), logits.shape[1]))
        np.testing.assert_allclose(rows[: len(logits)], golden["logits.0"], atol=1e-4)
        np.testing.assert_array_equal(rows[-1:], model.session().forward(many))
        session.truncate(0)
        session.forward(golden["tokens.0"][:-1], outputs="none")
        np.testing.assert_allclose(session.forward(golden["tokens.0"][-1:])[0], golden["logits.0"][-1], atol=1e-4)

    def test_the_most_likely_tokens_are_those_of_the_program(self):
        expected = printed("run", "-p", PROMPT, "-n", 8, "--threads", 1, "--json")
        session, tokens, chosen = self.model.session(), expected["prompt_ids"], []
        while len(chosen) < 8:
            chosen.append(int(session.forward(tokens)[0].argmax()))
            tokens = chosen[-1:]
        self.assertEqual(chosen, expected["ids"])

    def test_an_array_outlives_the_next_pass_and_the_session(self):
        session = ingot.Model(threads=1).session()
        first = session.forward([1, 5, 9])
        self.assertFalse(first.flags.owndata)
        kept = first.copy()
        second = session.forward([7])
        self.assertFalse(np.shares_memory(first, second))
        np.testing.assert_array_equal(first, kept)
        del session
        gc.collect()
        np.testing.assert_array_equal(first, kept)
        first += 1  # it is the array's alone
        lent = np.from_dlpack(first)
        self.assertTrue(np.shares_memory(lent, first))
        del first
        gc.collect()
        np.testing.assert_array_equal(lent, kept + 1)

    def test_sequences_are_forked_and_truncated(self):
        session = self.model.session(sequences=2, cache="f32")
        session.forward([1, 5, 9])
        fork = session.fork()
        here, there = session.forward([7]), session.forward([7], sequence=fork)
        np.testing.assert_array_equal(here, there)
        session.truncate(3)
        self.assertEqual((session.length(), session.length(fork)), (3, 4))
        np.testing.assert_array_equal(session.forward([7]), here)
        session.remove(fork)
        self.assert_refused("expected a sequence that exists", session.length, fork)

    def test_wrong_tokens_are_refused(self):
        session = self.model.session(context=16)
        self.assert_refused("expected tokens from 0 to", session.forward, [-1])
        self.assert_refused("at least one token", session.forward, [])
        self.assert_refused("at most 16 tokens of context", session.forward, [1] * 17)
        self.assert_refused("runs of distinct sequences that exist", session.forward, [1], sequence=-5)
        for wrong in ([1.5], ["a"]):
            with self.assertRaises(TypeError):
                session.forward(wrong)
        self.assertEqual(session.length(), 0)


class Texts(ModelTest):
    def test_tokens_are_those_of_the_program(self):
        tokenizer = self.model.tokenizer
        tokens = tokenizer.encode("A caf\u00e9, \u65e5\u672c!")
        self.assertEqual(tokens, printed("tokenize", "built-in:tales", "A caf\u00e9, \u65e5\u672c!", "--json")["ids"])
        self.assertEqual(tokenizer.decode(tokens), "A caf\u00e9, \u65e5\u672c!")
        self.assertEqual(len(tokenizer), tokenizer.vocabulary_size)
        bos = tokenizer.special_tokens["bos"]
        self.assertTrue(tokenizer.is_special(bos))
        self.assertEqual(tokenizer.find(tokenizer.piece(bos).decode()), bos)
        self.assert_refused("expected tokens from 0 to", tokenizer.piece, -1)
        self.assert_refused("expected tokens from 0 to", tokenizer.decode, [10**6])

    def test_a_tokenizer_outlives_its_model(self):
        tokenizer = ingot.Model().tokenizer
        gc.collect()
        self.assertEqual(tokenizer.decode(tokenizer.encode(PROMPT)), PROMPT)
        self.assertEqual(ingot.Tokenizer("built-in:tales").encode(PROMPT), tokenizer.encode(PROMPT))

    def test_messages_become_a_prompt(self):
        messages = [{"role": "user", "content": "abc"}, {"role": "assistant", "content": "[SEP]"}]
        self.assert_refused("expected a model with a chat template, found none", self.model.chat, messages)
        with tempfile.TemporaryDirectory() as folder:
            path = make_embedder(root / "tests/goldens", Path(folder) / "model")
            for name in ("config.json", "model.safetensors"):
                (path / name).write_bytes((root / "tests/goldens/llama" / name).read_bytes())
            (path / "chat_template.jinja").write_text(TEMPLATE)
            model = ingot.Model(path, threads=1)
            text = model.apply_chat_template(messages, tokenize=False, ending="[SEP]")
            self.assertEqual(text, "<user>abc<assistant>[SEP][SEP]")
            tokens = model.apply_chat_template(messages, ending="[SEP]")
            # What a message spells is text; a variable comes from outside as well.
            self.assertNotIn(model.tokenizer.find("[SEP]"), tokens)
            self.assertEqual(model.chat(messages, max_tokens=4), model.generate(
                model.apply_chat_template(messages), max_tokens=4))  # fmt: skip
            with self.assertRaises(TypeError):  # a chat computes its whole prompt
                model.chat(messages, load_session="file")
            self.assert_refused("expected messages as a list", model._model.chat_text, "{}", None, "{}", True)

    def test_vectors_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = make_embedder(root / "tests/goldens", Path(folder) / "model")
            model = ingot.Model(path, threads=1)
            rows = printed("embed", path, "-p", "a cat", "-p", "dog", "--threads", 1, "--json")["embeddings"]
            vectors = model.embed(["a cat", "dog"])
            np.testing.assert_array_equal(vectors, np.array([row["embedding"] for row in rows], np.float32))
            np.testing.assert_array_equal(model.embed("dog"), vectors[1])
            self.assertEqual(model.embed([]).shape, (0, vectors.shape[1]))
            self.assert_refused("expected a model that predicts tokens", model.generate, "a cat")
        self.assert_refused("expected a model that makes embeddings", self.model.embed, "dog")


class Package(unittest.TestCase):
    def test_versions_agree(self):
        project = (root / "bindings/python/pyproject.toml").read_text()
        self.assertEqual(re.search('^version = "(.*)"', project, re.MULTILINE)[1], ingot.__version__)
        self.assertIn(ingot.__version__, program.run("--version").stdout)

    def test_everything_says_what_it_does(self):
        for name in ingot.__all__:
            self.assertTrue(name == "__version__" or getattr(ingot, name).__doc__, name)
        for kind in (ingot.Model, ingot.Session, ingot.Tokenizer):
            for name, member in vars(kind).items():
                self.assertTrue(name.startswith("_") or member.__doc__, f"{kind.__name__}.{name}")

    def test_examples_run(self):
        examples = sorted((root / "bindings/python/examples").glob("*.py"))
        self.assertGreaterEqual(len(examples), 3)
        for example in examples:
            with self.subTest(example.name), open(os.devnull, "w") as nothing:
                shown, sys.stdout = sys.stdout, nothing
                try:
                    runpy.run_path(str(example))
                finally:
                    sys.stdout = shown


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program, package, root = Program(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    if not any(Path(package).glob("ingot/_ingot*.so")):
        print(MISSING)
        sys.exit(77)
    sys.path.insert(0, package)
    import ingot
    from python_adapters import *  # noqa: F403  their cases
    from python_arguments import *  # noqa: F403
    from python_contracts import *  # noqa: F403

    run_cases([sys.argv[0], *sys.argv[4:]])
