#!/usr/bin/env python3
"""Asks `ingot serve` for answers in a shape: schemas, grammars, regular expressions, choices.

usage: serve_shape_test.py PATH_OF_INGOT PATH_OF_GOLDENS [unittest arguments]
"""

import json
import re
import threading

from served import GREEDY, OPENING, Served, run_served_tests

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "work": {"enum": ["cook", "baker", "miller"]},
    },
    "required": ["name", "age", "work"],
    "additionalProperties": False,
}
CHAT = {"messages": [{"role": "user", "content": OPENING[1:]}], "max_tokens": 150, "seed": 5}
COMPACT = {"structured_outputs": {"json": PERSON, "disable_any_whitespace": True}}


class Shapes(Served):
    def assert_person(self, text):
        person = json.loads(text)
        self.assertEqual(list(person), ["name", "age", "work"], text)
        self.assertLessEqual(len(person["name"]), 12)
        self.assertTrue(isinstance(person["age"], int) and 0 <= person["age"] <= 150, text)
        self.assertIn(person["work"], PERSON["properties"]["work"]["enum"])

    def chat(self, **fields):
        answer = self.server.post("/v1/chat/completions", {**CHAT, **fields})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def test_a_chat_has_the_schema_however_it_is_drawn(self):
        for drawn in ({}, {"temperature": 0}, {"temperature": 2}, {"top_p": 0.5}, {"frequency_penalty": 2}):
            choice = self.chat(**COMPACT, **drawn, n=2)["choices"][1]
            self.assert_person(choice["message"]["content"])
            self.assertEqual(choice["finish_reason"], "stop")

    def test_openais_forms_of_a_schema(self):
        schema = {"name": "person", "strict": True, "schema": {"type": "array", "items": {"type": "integer"}, "maxItems": 3}}
        answer = self.chat(response_format={"type": "json_schema", "json_schema": schema}, max_tokens=200)
        choice = answer["choices"][0]
        if choice["finish_reason"] == "stop":
            self.assertIsInstance(json.loads(choice["message"]["content"]), list)
        self.assertTrue(choice["message"]["content"].startswith("["), choice)
        anything = self.chat(response_format={"type": "json_object"}, max_tokens=20)["choices"][0]
        self.assertTrue(anything["message"]["content"].startswith("{"), anything)
        self.assertEqual(self.chat(response_format={"type": "text"}, temperature=0, max_tokens=8)["choices"][0]["message"]
                         ["content"], self.complete(max_tokens=8)["choices"][0]["text"])  # fmt: skip

    def test_a_stream_is_the_same_text_in_pieces(self):
        whole = self.chat(**COMPACT)["choices"][0]["message"]["content"]
        chunks = [json.loads(event) for event in self.server.events("/v1/chat/completions", {**CHAT, **COMPACT})[:-1]]
        pieces = [choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]]
        self.assertEqual("".join(pieces), whole)
        self.assertGreater(len([piece for piece in pieces if piece]), 5)

    def test_completions_have_every_shape(self):
        cases = (
            ({"guided_choice": ["yes", "no"]}, "yes|no"),
            ({"guided_regex": r"\d{4}-\d{2}"}, r"\d{4}-\d{2}"),
            ({"guided_grammar": 'root ::= "(" root ")" | "x"'}, r"\(*x\)*"),
            ({"grammar": 'root ::= [a-c]{3}'}, "[a-c]{3}"),
            ({"json_schema": {"enum": ["red", 5]}}, '"red"|5'),
            ({"guided_json": json.dumps({"const": None})}, "null"),
            ({"structured_outputs": {"choice": [" one", " two"]}}, " one| two"),
        )
        for fields, pattern in cases:
            for temperature in (0, 2):
                choice = self.complete(max_tokens=100, temperature=temperature, seed=3, **fields)["choices"][0]
                self.assertTrue(re.fullmatch(pattern, choice["text"]), (fields, choice["text"]))
                self.assertEqual(choice["finish_reason"], "stop")

    def test_llama_servers_form_has_them_too(self):
        for fields, pattern in (({"grammar": 'root ::= "a" | "b"'}, "a|b"), ({"json_schema": {"type": "boolean"}}, "true|false")):
            answer = self.server.post("/completion", {"prompt": OPENING, "n_predict": 50, **fields}).json()
            self.assertTrue(re.fullmatch(pattern, answer["content"]), answer)
            self.assertEqual(answer["stop_type"], "eos")

    def test_what_allows_the_empty_text_alone_is_refused(self):
        for fields in ({"guided_regex": ""}, {"guided_choice": [""]}, {"grammar": 'root ::= ""'}):
            answer = self.server.post("/v1/completions", {**GREEDY, **fields})
            self.assert_refused(answer, 400, next(iter(fields)), "at least one character")

    def test_what_is_not_enforced_is_named_with_its_place(self):
        schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
        answer = self.server.post("/v1/completions", {**GREEDY, "json_schema": schema})
        self.assert_refused(answer, 400, "uniqueItems", "/properties/a")
        self.assertEqual(answer.error()["param"], "json_schema")
        wrapped = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
        answer = self.server.post("/v1/chat/completions", {**CHAT, "response_format": wrapped})
        self.assert_refused(answer, 400, "uniqueItems", "/properties/a")
        self.assertEqual(answer.error()["param"], "response_format.json_schema.schema")

    def test_what_cannot_be_compiled_says_why(self):
        deep = "root ::= " + "(" * 30 + '"a"' + ")? " * 30
        for fields, *words in (
            ({"grammar": 'root ::= root "a" | "b"'}, "grammar", "root"),
            ({"grammar": "root ::= missing"}, "grammar", "missing"),
            ({"guided_regex": "(a"}, "guided_regex"),
            ({"guided_regex": "(?=a)b"}, "guided_regex"),
            ({"guided_json": "{"}, "guided_json"),
            ({"structured_outputs": {"regex": "[a-z]{1,5}" * 7000}}, "structured_outputs.regex", "65536"),
            ({"json_schema": {"type": "string", "pattern": "^(a|b)*a(a|b){40}$", "minLength": 3}}, "json_schema", "bytes"),
            ({"json_schema": {}, "grammar": "x"}, "json_schema", "grammar"),
        ):
            self.assert_refused(self.server.post("/v1/completions", {**GREEDY, **fields}), 400, *words)
        self.assertEqual(self.server.post("/v1/completions", {**GREEDY, "grammar": deep, "max_tokens": 3}).status, 200)

    def test_free_texts_beside_those_that_are_held_say_what_they_say_alone(self):
        expected = self.complete(max_tokens=60, ignore_eos=True)["choices"][0]["text"]
        found = {}

        def ask(index):
            fields = {**COMPACT, "max_tokens": 150, "seed": index, "temperature": 1} if index % 2 else {}
            found[index] = self.complete(**{"max_tokens": 60, "ignore_eos": not index % 2, **fields})["choices"][0]["text"]

        threads = [threading.Thread(target=ask, args=(index,)) for index in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for index, text in found.items():
            self.assert_person(text) if index % 2 else self.assertEqual(text, expected)

    def test_probabilities_are_the_models_own(self):
        fields = {"max_tokens": 1, "logprobs": 3}
        free = self.complete(**fields)["choices"][0]["logprobs"]
        held = self.complete(**fields, guided_choice=["Zebra"])["choices"][0]["logprobs"]
        likely = lambda found: sorted(found["top_logprobs"][0].items(), key=lambda item: -item[1])[:3]  # noqa: E731
        self.assertEqual(likely(held), likely(free))
        self.assertLess(held["token_logprobs"][0], free["token_logprobs"][0])


if __name__ == "__main__":
    run_served_tests()
