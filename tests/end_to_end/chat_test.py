#!/usr/bin/env python3
"""Talks with the built-in model, which knows no chat: a template makes its prompts of the messages alone.

usage: chat_test.py PATH_OF_INGOT [unittest arguments]
"""

import json
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

    def test_json_is_a_line_for_each_message(self):
        done = self.chat("-n", "4", "--context", "24", "--json", text_in=f"{OPENING}\n/clear\n{LONG}\n/stats\n")
        answered, refused = map(json.loads, done.stdout.splitlines())
        self.assertEqual(answered["message"], OPENING)
        self.assertEqual((answered["tokens"], answered["stop"]), (4, "token limit"))
        self.assertIn("24 tokens", refused["error"])
        self.assertIn("tokens in memory", done.stderr)


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
