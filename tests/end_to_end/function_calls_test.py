#!/usr/bin/env python3
"""Calls of functions that a small model is forced to make: every one parses, and keeps to the function's parameters.

usage: function_calls_test.py PATH_OF_INGOT [unittest arguments]

The functions are those of INGOT_OUTSIDE_DATA/bfcl, the model is SmolLM2 (tests/end_to_end/outside_models.py). What is absent is
skipped, and says so. INGOT_FUNCTION_CASES: how many cases are asked, of those with the shortest descriptions; all without it.
INGOT_FUNCTION_STREAMS: how many streams are drawn, case after case and from the first again, each by a seed of its own; as many as
there are cases without it.
"""

import json
import os
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from outside_models import fetched_model, outside
from program import Program
from run_cases import run_cases
from served import Client, Server

CLIENTS = 8
MOST_TOKENS = 512
MOST_CUT = 0.05  # of the calls: lists and texts that a small model does not end
FEWEST_CUT = 2  # may be cut of however few calls: in another machine's last bits other words are drawn
JSON_TYPES = {"dict": "object", "float": "number", "tuple": "array", "HashMap": "object", "Hashtable": "object",
              "ArrayList": "array", "Array": "array", "String": "string", "char": "string", "long": "integer",
              "double": "number", "Bigint": "integer", "byte": "integer", "short": "integer", "bool": "boolean"}  # fmt: skip
ANYTHING = ("any", "Any")
KEPT = ("type", "description", "enum", "properties", "required", "items", "additionalProperties")

program: Program


def schema_of(described):
    """A function's parameters, whose types have names of several languages, as a JSON Schema of what is enforced."""
    schema = {key: described[key] for key in KEPT if key in described}
    if schema.get("type") in ANYTHING:
        del schema["type"]
    elif "type" in schema:
        schema["type"] = JSON_TYPES.get(schema["type"], schema["type"])
    if "properties" in schema:
        schema["properties"] = {name: schema_of(inner) for name, inner in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = schema_of(schema[key])
    return schema


def is_of_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return is_of_type(value, "number") and value == int(value)
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}[name])


def faults(schema, value, place="arguments"):
    """What of a value its schema does not allow."""
    if "type" in schema and not is_of_type(value, schema["type"]):
        return [f"{place}: expected {schema['type']}, found {value!r}"]
    found = [f"{place}: found {value!r}, which is not listed"] if "enum" in schema and value not in schema["enum"] else []
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}: expected {name}" for name in schema.get("required", ()) if name not in value]
        for name, inner in value.items():
            found += faults(known.get(name, {}), inner, f"{place}.{name}")
            if name not in known and "properties" in schema and not schema.get("additionalProperties"):
                found.append(f"{place}: found {name}")  # functions take what they declare
    if isinstance(value, list):
        for number, inner in enumerate(value):
            found += faults(schema.get("items", {}), inner, f"{place}[{number}]")
    return found


def cases():
    lines = (outside("bfcl") / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    found = sorted((json.loads(line) for line in lines), key=lambda case: len(json.dumps(case["function"])))
    return found[: int(os.environ.get("INGOT_FUNCTION_CASES", len(found)))]


class Drawn:
    """A call that a stream told in pieces, and how the stream ended."""

    def __init__(self, events):
        self.calls, self.finish_reason = {}, None
        for event in events:
            if event == "[DONE]":
                continue
            choice = json.loads(event)["choices"][0]
            for piece in choice["delta"].get("tool_calls", ()):
                call = self.calls.setdefault(piece["index"], {"name": "", "arguments": ""})
                for key, text in piece["function"].items():
                    call[key] += text
            self.finish_reason = choice["finish_reason"] or self.finish_reason

    def as_choice(self):
        calls = [{"function": call} for call in self.calls.values()]
        return {"finish_reason": self.finish_reason, "message": {"tool_calls": calls}}


def judge(name, functions, choice):
    """What a forced call is, and of what case that was found."""
    calls = choice["message"].get("tool_calls")
    if choice["finish_reason"] == "length":
        return "cut", name
    if choice["finish_reason"] != "tool_calls" or len(calls) != 1:
        return "wrong", f"{name}: {choice}"
    function = calls[0]["function"]
    if function["name"] not in functions:
        return "wrong", f"{name}: {function}"
    try:
        arguments = json.loads(function["arguments"])
    except ValueError as error:
        return "wrong", f"{name}: {error}: {function}"
    wrong = faults(functions[function["name"]], arguments)
    return ("wrong", f"{name}: {wrong}") if wrong else ("right", name)


class FunctionCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases, model = cases(), fetched_model()
        cls.server = Server(program, model, "--sequences", CLIENTS)
        cls.addClassCleanup(cls.server.__exit__)

    def asked(self, case, functions):
        tools = [{"type": "function",
                  "function": {"name": each["name"], "description": each["description"], "parameters": functions[each["name"]]}}
                 for each in case["function"]]  # fmt: skip
        return {"messages": case["question"][0], "tools": tools, "tool_choice": "required", "parallel_tool_calls": False,
                "max_tokens": MOST_TOKENS}  # fmt: skip

    def ask(self, case):
        functions = {function["name"]: schema_of(function["parameters"]) for function in case["function"]}
        asked = {**self.asked(case, functions), "seed": 7, "temperature": 0.7, "frequency_penalty": 0.3}
        answer = Client(self.server.port).post("/v1/chat/completions", asked)
        if answer.status != 200:
            return "refused", f"{case['name']}: {answer.body}"
        return judge(case["name"], functions, answer.json()["choices"][0])

    def draw(self, seed):
        case = self.cases[(seed - 1) % len(self.cases)]
        functions = {function["name"]: schema_of(function["parameters"]) for function in case["function"]}
        asked = {**self.asked(case, functions), "seed": seed, "temperature": 1}
        name = f"{case['name']}, seed {seed}"
        try:
            events = Client(self.server.port).events("/v1/chat/completions", asked)
        except AssertionError as error:
            return "refused", f"{name}: {error}"
        if events[-1] != "[DONE]":
            return "wrong", f"{name}: {events[-1]}"
        return judge(name, functions, Drawn(events).as_choice())

    def check(self, ask, asked):
        with ThreadPoolExecutor(CLIENTS) as pool:
            found = list(pool.map(ask, asked))
        of_kind = {kind: [text for each, text in found if each == kind] for kind in ("right", "cut", "refused", "wrong")}
        print(f"{len(found)} calls:", ", ".join(f"{len(texts)} {kind}" for kind, texts in of_kind.items()), flush=True)
        self.assertEqual(of_kind["wrong"], [])
        self.assertEqual(of_kind["refused"], [])
        self.assertLessEqual(len(of_kind["cut"]), max(FEWEST_CUT, MOST_CUT * len(found)), of_kind["cut"])

    def test_forced_calls_keep_to_their_parameters(self):
        self.check(self.ask, self.cases)

    def test_streamed_calls_that_are_drawn_keep_to_their_parameters(self):
        self.check(self.draw, range(1, int(os.environ.get("INGOT_FUNCTION_STREAMS", len(self.cases))) + 1))


if __name__ == "__main__":
    program = Program(Path(sys.argv.pop(1)).resolve())
    run_cases(sys.argv)
