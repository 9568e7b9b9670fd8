#!/usr/bin/env python3
"""Runs the examples of docs/structured.md as they stand there: what comes keeps to the shape, and so does what the page shows.

usage: structured_examples_test.py PATH_OF_INGOT PAGE [unittest arguments]

An example is a block of the page that begins with ```sh example=NAME, what it shows one with ```text output=NAME.
Those that name model.gguf are run with SmolLM2 (tests/end_to_end/outside_models.py), those that ask localhost:8080 ask a server of it.
"""

import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from outside_models import fetched_model
from page_commands import put_on_path, run_as_shown
from program import Program
from run_cases import run_cases
from served import Server

EXAMPLE = re.compile(r"^```sh example=(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```text output=(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVER = "localhost:8080"
MODEL = "model.gguf"

program: Program
page = ""


def is_person(text, *fields):
    person = json.loads(text)
    right = {"name": lambda name: isinstance(name, str) and len(name) <= 30,
             "born": lambda year: type(year) is int and 1000 <= year <= 2100,
             "work": lambda work: work in ("physics", "chemistry", "music")}  # fmt: skip
    return list(person) == list(fields) and all(right[field](person[field]) for field in fields)


def is_weather(arguments):
    return (list(arguments) == ["city", "unit"] and isinstance(arguments["city"], str) and len(arguments["city"]) <= 30
            and arguments["unit"] in ("celsius", "fahrenheit"))  # fmt: skip


def matches(pattern):
    return lambda text: re.fullmatch(pattern, text) is not None


def tool_use(text):
    block = json.loads(text)
    return (block["type"], block["name"]) == ("tool_use", "get_weather") and is_weather(block["input"])


def streamed_arguments(text):
    """Of a stream's events, which name the function first."""
    events = [line.removeprefix("data: ") for line in text.splitlines() if line]
    if events.pop() != "[DONE]":
        raise AssertionError(f"expected a stream with an end, found {text}")
    deltas = [json.loads(event)["choices"][0]["delta"] for event in events]
    calls = [delta["tool_calls"][0]["function"] for delta in deltas if "tool_calls" in delta]
    if calls[0] != {"name": "get_weather", "arguments": ""} or len(calls) < 3:
        raise AssertionError(f"expected a name and then pieces of arguments, found {calls}")
    return "".join(call["arguments"] for call in calls)


def content(answer):
    choice = json.loads(answer)["choices"][0]
    if choice["finish_reason"] != "stop":
        raise AssertionError(f"expected an answer that ends where its shape does, found {choice}")
    return choice["message"]["content"]


def whole(text):
    return text


WORDS = r"[A-Za-z][a-z]{0,9}( [a-z]{1,9}){2,7}"
COLOR = "(blue|green|red|white)"
# By example: where the part that is held stands in what comes, and whether it keeps to its shape.
CHECKS = {
    "choice": (whole, matches("mill|attic|castle")),
    "regex": (whole, matches(r"[a-z]{3,9} (by|under) a [a-z]{3,9}\.")),
    "grammar": (whole, matches(rf'"{WORDS}\?" asked Ralf\. "(Yes|No), {WORDS}\."')),
    "schema": (whole, lambda text: is_person(text, "name", "born", "work")),
    "tools": (lambda text: text.removeprefix("call get_weather "), lambda text: is_weather(json.loads(text))),
    "chat_schema": (content, lambda text: is_person(text, "name", "born", "work")),
    "chat_grammar": (content, matches(rf"{COLOR}, {COLOR} and {COLOR}")),
    "chat_tools": (streamed_arguments, lambda text: is_weather(json.loads(text))),
    "responses": (lambda text: json.loads(text)["output"][0]["content"][0]["text"], lambda text: is_person(text, "name", "born")),
    "messages": (lambda text: json.dumps(json.loads(text)["content"][0]), tool_use),
}  # fmt: skip


def answers_of_a_server(name):
    return SERVER in dict(EXAMPLE.findall(page))[name]


class Page(unittest.TestCase):
    def test_it_has_ten_examples_that_are_checked(self):
        names = [name for name, _ in EXAMPLE.findall(page)]
        self.assertEqual(len(names), 10)
        self.assertEqual(names, [name for name, _ in SHOWN.findall(page)])
        self.assertEqual(sorted(names), sorted(CHECKS))

    def test_what_it_shows_keeps_to_the_shape(self):
        for name, shown in SHOWN.findall(page):
            part, is_right = CHECKS[name]
            text = shown.strip() if answers_of_a_server(name) else part(shown.strip())
            self.assertTrue(is_right(text), (name, shown))


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        put_on_path(program, cls.folder)

    def check(self, name, command):
        done = run_as_shown(command, self.folder)
        self.assertEqual(done.returncode, 0, (name, done.stderr))
        part, is_right = CHECKS[name]
        text = part(done.stdout.strip())
        print(f"{name}: {text}", flush=True)
        self.assertTrue(is_right(text), (name, done.stdout))

    def test_those_of_the_model_that_the_program_carries(self):
        found = [(name, text) for name, text in EXAMPLE.findall(page) if MODEL not in text and SERVER not in text]
        self.assertEqual(len(found), 3)
        for name, command in found:
            self.check(name, command)

    def test_those_of_a_model_that_follows_instructions(self):
        (self.folder / MODEL).symlink_to(fetched_model())
        found = [(name, text) for name, text in EXAMPLE.findall(page) if MODEL in text]
        self.assertEqual(len(found), 2)
        for name, command in found:
            self.check(name, command)

    def test_those_that_ask_a_server(self):
        if shutil.which("curl") is None:
            self.skipTest("SKIPPED: expected the program curl")
        found = [(name, text) for name, text in EXAMPLE.findall(page) if SERVER in text]
        self.assertEqual(len(found), 5)
        with Server(program, fetched_model()) as server:
            for name, command in found:
                self.check(name, command.replace(SERVER, f"127.0.0.1:{server.port}"))


if __name__ == "__main__":
    program = Program(Path(sys.argv.pop(1)).resolve())
    page = Path(sys.argv.pop(1)).read_text(encoding="utf-8")
    run_cases(sys.argv)
