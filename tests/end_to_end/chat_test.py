#!/usr/bin/env python3
"""Talks with the built-in model, which knows no chat: a template makes its prompts of the messages alone.

usage: chat_test.py PATH_OF_INGOT [unittest arguments]
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import Program, Terminal

TEMPLATE = "\n{% for message in messages %}{{ message.content }}{% endfor %}"
OPENING = "Once there was a thoughtful cook named Ralf."  # which the model goes on from at length
LONG = (OPENING + " ") * 20
CONTROL_D = "\x04"
PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"

program: Program


class Chat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        template = Path(folder.name) / "chat.jinja"
        template.write_text(TEMPLATE)
        self.command = ["chat", "--template", template, "--temperature", "0", "--threads", "1"]

    def chat(self, *options, text_in):
        return program.run(*self.command, *options, text_in=text_in)

    def terminal(self, *options):
        return Terminal(program, *self.command, *options)


class Pipes(Chat):
    def test_every_line_is_answered(self):
        done = self.chat("-n", "4", text_in=f"{OPENING}\nOnce there was a cook.\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.strip().splitlines()), 2, done.stdout)

    def test_a_line_that_ends_with_a_backslash_goes_on(self):
        done = self.chat("-n", "4", "--json", text_in="Once there\\\nwas a cook.\nHe\\\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        messages = [json.loads(line)["message"] for line in done.stdout.splitlines()]
        self.assertEqual(messages, ["Once there\nwas a cook.", "He"])

    def test_an_answer_that_was_cut_says_so(self):
        done = self.chat("-n", "4", text_in=OPENING)
        self.assertIn("[cut after 4 tokens: a larger -n lets it go on]", done.stderr)

    def test_a_failed_message_fails_the_command(self):
        done = self.chat("-n", "4", "--context", "24", text_in=f"{LONG}\n{OPENING}\n")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("at most 24 tokens of context", done.stderr)
        self.assertEqual(self.chat("-n", "4", text_in="/nonsense\n").returncode, 1)

    def test_every_error_of_a_full_context_says_how_to_go_on(self):
        done = self.chat("-n", "40", "--context", "24", text_in=f"{OPENING}\n" * 4)
        self.assertEqual(done.returncode, 1)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        self.assertEqual(len(errors), 4, done.stderr)
        for line in errors:
            self.assertIn("/clear begins again", line)
            self.assertIn("--context", line)

    def test_what_was_said_is_written_and_gone_on_from(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "said.json"
            whole = self.chat("-n", "6", "--json", text_in=f"{OPENING}\n/save {path}\nHe was glad.\n")
            self.assertEqual(whole.returncode, 0, whole.stderr)
            answers = [json.loads(line)["text"] for line in whole.stdout.splitlines()]
            self.assertEqual(
                json.loads(path.read_text()),
                [{"role": "user", "content": OPENING}, {"role": "assistant", "content": answers[0]}],
            )
            again = self.chat("-n", "6", "--json", text_in=f"/load {path}\nHe was glad.\n")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(json.loads(again.stdout)["text"], answers[1])

    def test_what_was_not_said_is_not_gone_on_from(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "said.json"
            for text, expected in (
                ("{}", "a list of messages"),
                ("[1]", "an object as message 0"),
                ('[{"role": "clown", "content": ""}]', "a role"),
                ('[{"role": "user"}]', "content that is text"),
                ("[" * 200, "JSON"),
                ("", ""),
            ):
                path.write_text(text)
                done = self.chat("-n", "4", text_in=f"/load {path}\n")
                self.assertEqual(done.returncode, 1, text)
                self.assertIn(expected, done.stderr)
                self.assertIn("said.json", done.stderr)
            for line in ("/load", "/save", f"/load {folder}/none", f"/save {folder}/none/said.json"):
                self.assertEqual(self.chat("-n", "4", text_in=line + "\n").returncode, 1, line)

    def test_json_is_a_line_for_each_message(self):
        done = self.chat("-n", "4", "--context", "24", "--json", text_in=f"{OPENING}\n/clear\n{LONG}\n/stats\n")
        answered, refused = map(json.loads, done.stdout.splitlines())
        self.assertEqual(answered["message"], OPENING)
        self.assertEqual((answered["tokens"], answered["stop"]), (4, "token limit"))
        self.assertIn("24 tokens", refused["error"])
        self.assertIn("tokens in memory", done.stderr)


class Tools(Chat):
    """The model, which knows none, is held to calls by the grammar."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tools = self.folder / "tools.json"
        self.tools.write_text(json.dumps([self.tool("look", north="north", south="south"), self.tool("wait", day="day")]))

    @staticmethod
    def tool(name, **where):
        properties = {"where": {"enum": list(where)}}
        parameters = {"type": "object", "properties": properties, "required": ["where"], "additionalProperties": False}
        return {"type": "function", "function": {"name": name, "parameters": parameters}}

    def script(self, text):
        path = self.folder / "tool"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def talk(self, *options, text_in="Where is the cook?\n"):
        return self.chat("--tools", self.tools, "-n", "400", "--context", "2048", *options, text_in=text_in)

    def test_a_named_call_is_made_and_goes_on_with_its_result(self):
        done = self.talk("--tool-choice", "look", "--json", text_in="Where is the cook?\nall is dark\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        called, went_on = map(json.loads, done.stdout.splitlines())
        self.assertEqual([call["name"] for call in called["calls"]], ["look"])
        self.assertIn(called["calls"][0]["arguments"]["where"], ["north", "south"])
        self.assertEqual((called["message"], called["text"]), ("Where is the cook?", ""))
        self.assertEqual(went_on["results"], ["all is dark"])

    def test_a_program_runs_calls(self):
        done = self.talk("--tool-choice", "wait", "--tool-command", self.script('echo "$1 of $(cat)"'), "--json")
        called, went_on = map(json.loads, done.stdout.splitlines())
        self.assertEqual(called["calls"][0]["arguments"], {"where": "day"})
        self.assertEqual(went_on["results"], ['wait of {"where":"day"}'])

    def test_a_program_that_fails_is_told_to_the_model(self):
        done = self.talk("--tool-choice", "wait", "--tool-command", "/bin/false", "--json")
        self.assertIn("expected exit status 0, found 1", json.loads(done.stdout.splitlines()[1])["results"][0])
        self.assertIn("warning:", done.stderr)

    def test_a_program_that_writes_without_end_is_ended(self):
        done = self.talk("--tool-choice", "wait", "--tool-command", self.script("exec yes"), "--json")
        self.assertIn("1048576 bytes", json.loads(done.stdout.splitlines()[1])["results"][0])

    def test_whoever_gives_up_waits_for_no_program(self):
        begun = self.folder / "begun"
        os.mkfifo(begun)
        command = [*self.command, "--tools", self.tools, "--tool-choice", "wait", "-n", "400", "--context", "2048"]
        command += ["--tool-command", self.script(f"echo >{begun}; exec sleep 600"), "--json"]
        with subprocess.Popen(
            [program.path, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as chat:
            chat.stdin.write("Where is the cook?\n")
            chat.stdin.close()
            begun.read_text()  # until the program writes
            chat.send_signal(signal.SIGINT)
            self.assertEqual(len(chat.stdout.readlines()), 1)
            self.assertEqual(chat.wait(60), 0)

    def test_calls_are_shown(self):
        done = self.talk("--tool-choice", "wait")
        self.assertEqual(done.stdout.splitlines()[0], 'call wait {"where":"day"}')

    def test_wrong_options_are_refused(self):
        self.assertIn("found 'sleep'", self.talk("--tool-choice", "sleep").stderr)
        self.tools.write_text('[{"type": "function", "function": {"name": "a", "parameters": {"multipleof": 1}}}]')
        self.assertIn("tool 'a'", self.talk().stderr)
        self.tools.write_text("{}")
        self.assertIn("expected a list of tools", self.talk().stderr)
        self.assertEqual(self.chat("--tool-choice", "required", text_in="x\n").returncode, 2)
        for name in ("", "./nowhere", "no-program-has-this-name", str(self.tools)):
            done = self.talk("--tool-command", name)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn("the name of a program", done.stderr)


class OnATerminal(Chat):
    def test_it_begins_with_what_it_is_and_how_to_leave(self):
        with self.terminal() as terminal:
            terminal.wait_for("tokens of context. /help lists commands, Ctrl-D ends the chat.")
            terminal.wait_for("> ")
            terminal.type(CONTROL_D)
            self.assertEqual(terminal.wait_for_end(20), 0)

    def test_an_end_of_input_during_an_answer_ends_the_chat_after_it(self):
        with self.terminal("-n", "150") as terminal:
            terminal.wait_for("> ")
            terminal.type(OPENING + "\r")
            terminal.wait_for("\n Ralf")
            terminal.type(CONTROL_D)
            self.assertEqual(terminal.wait_for_end(60), 0)
            self.assertIn("Ralf", terminal.output)

    def test_a_pasted_text_is_one_message(self):
        with self.terminal("-n", "4") as terminal:
            terminal.wait_for("\x1b[?2004h")
            terminal.wait_for("> ")
            terminal.type(f"{PASTE_BEGIN}A list:\r- one\r\r{OPENING}{PASTE_END}")
            terminal.wait_for(f"A list:\u21b5- one\u21b5\u21b5{OPENING}")
            terminal.type("\r")
            terminal.wait_for("cut after 4 tokens")
            terminal.type(CONTROL_D)
            self.assertEqual(terminal.wait_for_end(20), 0)
            self.assertNotIn("cut after", terminal.output)

    def test_a_failed_message_on_a_terminal_is_no_failure_of_the_chat(self):
        with self.terminal() as terminal:
            terminal.wait_for("> ")
            terminal.type("/nonsense\r")
            terminal.wait_for("found /nonsense")
            terminal.type(CONTROL_D)
            self.assertEqual(terminal.wait_for_end(20), 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = Program(Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
