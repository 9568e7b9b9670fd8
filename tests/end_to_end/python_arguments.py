"""Arguments that are none, each refused by its name: cases of python_package_test.py."""

import unittest

import ingot
import numpy as np


class Refused(unittest.TestCase):
    def assert_names(self, kind, words, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertRegex(str(caught.exception), words)
        self.assertLess(len(str(caught.exception)), 400, "no signature of the module's")
        return caught.exception


class Arguments(Refused):
    @classmethod
    def setUpClass(cls):
        cls.model = ingot.Model(threads=1)

    def test_what_is_no_such_thing_is_a_type_error_that_names_it(self):
        model, session, tokenizer = self.model, self.model.session(), self.model.tokenizer
        for words, call, arguments, options in (
            ("expected prompt as whole numbers, found bytes", model.generate, [b"abc"], {}),
            ("expected prompt as whole numbers, found NoneType", model.generate, [None], {}),
            (r"expected tokens as a whole number, found 1\.5", model.generate, [[1, 1.5]], {}),
            ("expected temperature as a number, found 'hot'", model.generate, ["a"], {"temperature": "hot"}),
            ("expected max_tokens as a whole number, found None", model.generate, ["a"], {"max_tokens": None}),
            (r"expected options of generate\(\) among max_tokens, .* found 'max_token'", model.generate, ["a"], {"max_token": 2}),
            (r"expected options of chat\(\) among .* found 'temp'", model.chat, [[]], {"temp": 2}),
            ("expected stop as texts, found int", model.generate, ["a"], {"stop": 3}),
            ("expected stop as a text, found int", model.generate, ["a"], {"stop": [3]}),
            ("expected regex as a text, found int", model.generate, ["a"], {"regex": 3}),
            ("expected messages as a list of dicts, found 'hello'", model.apply_chat_template, ["hello"], {}),
            ("expected messages as a list of dicts, found {'role'", model.apply_chat_template, [{"role": "user"}], {}),
            ("expected tools as a list of dicts, found 7", model.apply_chat_template, [[]], {"tools": 7}),
            ("expected tokens as whole numbers, found str", session.forward, ["abc"], {}),
            ("expected a sequence as a whole number, found 'a'", session.length, ["a"], {}),
            ("expected text as a text, found NoneType", tokenizer.encode, [None], {}),
            ("expected a token as a whole number, found 'a'", tokenizer.piece, ["a"], {}),
            ("expected tokens as whole numbers, found int", tokenizer.decode, [5], {}),
            ("expected texts as texts, found int", model.embed, [5], {}),
            ("expected threads as a whole number, found '2'", ingot.Model(threads="2").session, [], {}),
            ("expected embeddings=True beside pooling", ingot.Model, [], {"pooling": "mean"}),
        ):
            with self.subTest(words):
                self.assert_names(TypeError, words, call, *arguments, **options)
        self.assertRaises(UnicodeEncodeError, tokenizer.encode, "\ud800")

    def test_numbers_that_cannot_be_are_errors(self):
        session = self.model.session()
        for words, call, arguments, options in (
            ("expected tokens from -2147483648 to 2147483647, found 1099511627776", session.forward, [[2**40]], {}),
            ("expected seed from 0 to 18446744073709551615, found -1", self.model.generate, ["a"], {"seed": -1}),
            ("expected max_tokens from .* found 1180591620717411303424", self.model.generate, ["a"], {"max_tokens": 2**70}),
        ):
            error = self.assert_names(ingot.Error, words, call, *arguments, **options)
            self.assertEqual(error.code, "out of range")
        self.assertEqual(session.length(), 0)

    def test_numbers_and_texts_of_other_kinds_are_taken(self):
        expected = self.model.generate([5, 6], max_tokens=4, temperature=0.5)
        for tokens in (np.array([5, 6]), np.array([5, 6], np.uint8), (5, 6), iter([np.int64(5), 6])):
            self.assertEqual(self.model.generate(tokens, max_tokens=np.int32(4), temperature=np.float32(0.5)), expected)
        self.assertEqual(self.model.generate([5, 6], max_tokens=4, temperature=0.5, stop=None), expected)


class VectorsOfDecoders(Refused):
    def test_a_model_that_predicts_tokens_makes_vectors_where_it_is_asked_to(self):
        model = ingot.Model(embeddings=True, threads=1)
        self.assertTrue(model.facts["makes_embeddings"])
        vectors = model.embed(["a fox", "Once there was a thoughtful cook"])
        np.testing.assert_allclose((vectors**2).sum(1), 1, rtol=1e-4)
        each = ingot.Model(embeddings=True, pooling="none", threads=1).embed("a fox")
        np.testing.assert_allclose(vectors[0], each[-1], atol=1e-5)
        mean = ingot.Model(embeddings=True, pooling="mean", threads=1).embed("a fox")
        self.assertGreater(abs(mean - vectors[0]).max(), 1e-3)
        self.assert_names(ingot.Error, "expected a model that predicts tokens", model.generate, "a", max_tokens=2)
        self.assert_names(ingot.Error, "expected pooling as mean, .* found 'max'", ingot.Model, embeddings=True, pooling="max")
