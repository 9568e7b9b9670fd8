"""LoRA adapters in a Python program, against what peft computed: cases of python_package_test.py."""

import json
import struct
import tempfile
import unittest
from pathlib import Path

import ingot
import numpy as np
from talker import make_talker

GOLDENS = Path(__file__).resolve().parents[1] / "goldens"


def golden(path, name):
    stored = path.read_bytes()
    size = struct.unpack_from("<Q", stored)[0]
    row = json.loads(stored[8 : 8 + size])[name]
    begin, end = (8 + size + offset for offset in row["data_offsets"])
    return np.frombuffer(stored[begin:end], {"F32": np.float32, "I64": np.int64}[row["dtype"]]).reshape(row["shape"])


class Adapters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = GOLDENS / "adapters"
        cls.files = {"first": folder / "first", "second": str(folder / "second")}
        cls.model = ingot.Model(GOLDENS / "llama", threads=1, cache="f32", adapters=cls.files)
        cls.tokens = golden(GOLDENS / "llama/golden.safetensors", "tokens.0")

    def assert_refused(self, words, call, *arguments, **options):
        with self.assertRaises(ingot.Error) as caught:
            call(*arguments, **options)
        self.assertIn(words, str(caught.exception))

    def test_logits_are_those_of_peft_and_switch_without_loading(self):
        session = self.model.session()
        plain = session.forward(self.tokens, outputs="all")
        for adapters, name in (("first", "first"), (["second"], "second"), ({"first": 1, "second": 1.0}, "both")):
            session.use_adapters(adapters)
            self.assertEqual(session.length(), 0, "another set empties it")
            found = session.forward(self.tokens, outputs="all")
            np.testing.assert_allclose(found, golden(GOLDENS / "adapters/logits.safetensors", f"logits.{name}"), atol=1e-4)
            self.assertGreater(abs(found - plain).max(), 1e-2)
        session.use_adapters(None)
        np.testing.assert_array_equal(session.forward(self.tokens, outputs="all"), plain)

    def test_a_fork_keeps_them_and_a_new_sequence_has_none(self):
        session = self.model.session(sequences=3)
        session.use_adapters("first")
        with_it = session.forward(self.tokens)
        fork, other = session.fork(), session.add()
        session.truncate(len(self.tokens) - 1, sequence=fork)
        np.testing.assert_allclose(session.forward(self.tokens[-1:], sequence=fork), with_it, atol=1e-4)
        self.assertGreater(abs(session.forward(self.tokens, sequence=other) - with_it).max(), 1e-2)

    def test_what_cannot_be_is_refused_by_name(self):
        session = self.model.session()
        self.assert_refused("expected adapters among first, second, found 'third'", session.use_adapters, "third")
        self.assert_refused("are none, found 'a'", ingot.Model(threads=1).generate, "a", adapters="a")
        self.assert_refused("expected scales of adapters from -1000 to 1000", session.use_adapters, {"first": 1e9})
        self.assertRaises(TypeError, session.use_adapters, {"first": "much"})
        self.assertRaises(TypeError, session.use_adapters, 7)
        self.assertRaises(TypeError, ingot.Model, GOLDENS / "llama", adapters=self.files, embeddings=True)
        self.assert_refused("/nowhere", ingot.Model, GOLDENS / "llama", adapters={"a": "/nowhere"})
        self.assert_refused("another model's", ingot.Model, adapters=self.files)
        inner = ingot.Model(GOLDENS / "llama")._model.adapter(str(self.files["first"]))
        options = {"threads": 1, "context": 8, "sequences": 1, "cache": "f32", "deterministic": False}
        self.assert_refused("expected adapters of this model", self.model._model.session, **options, adapters=[inner])


class AdaptersOfTexts(unittest.TestCase):
    def test_a_generation_has_those_that_it_names(self):
        with tempfile.TemporaryDirectory() as folder:
            talker = make_talker(GOLDENS, Path(folder) / "talker")
            model = ingot.Model(talker, threads=1, cache="f32", adapters={"first": GOLDENS / "adapters/first"})
            plain = model.generate("a cat", max_tokens=12)
            styled = model.generate("a cat", max_tokens=12, adapters="first")
            self.assertNotEqual(plain, styled)
            self.assertEqual(model.generate("a cat", max_tokens=12, adapters={"first": 0}), plain)
            self.assertEqual(model.generate("a cat", max_tokens=12), plain)
            said = [{"role": "user", "content": "a cat"}]
            self.assertNotEqual(model.chat(said, max_tokens=12), model.chat(said, max_tokens=12, adapters="first"))
            file = Path(folder) / "saved"
            begun = model.generate("a cat", max_tokens=6, adapters="first", save_session=file)
            self.assertEqual(begun + model.generate("", max_tokens=6, adapters="first", load_session=file), styled)
            with self.assertRaises(ingot.Error):
                model.generate("", max_tokens=6, load_session=file)
