#!/usr/bin/env python3
"""The command line program llm against `ingot serve`, set up by its extra-openai-models.yaml.

usage: llm_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package llm
"""

import json
import os
import subprocess
import sys

from peers import KEY, OPENING, Peer, main

MODELS = """
- model_id: ingot-chat
  model_name: talker
  api_base: "{url}"
  api_key_name: ingot
- model_id: ingot-text
  model_name: talker
  api_base: "{url}"
  api_key_name: ingot
  completion: true
- model_id: ingot-unknown
  model_name: other
  api_base: "{url}"
  api_key_name: ingot
"""


class Llm(Peer):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = cls.folder / "llm"
        cls.home.mkdir()
        (cls.home / "extra-openai-models.yaml").write_text(MODELS.format(url=cls.url))
        (cls.home / "keys.json").write_text(json.dumps({"ingot": KEY}))

    def llm(self, *arguments, text_in=""):
        return subprocess.run(
            [sys.executable, "-m", "llm", *arguments], input=text_in, capture_output=True, text=True, timeout=120,
            env={**os.environ, "LLM_USER_PATH": str(self.home)},
        )  # fmt: skip

    def say(self, *arguments):
        done = self.llm(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_models_are_listed(self):
        self.assertIn("ingot-chat", self.say("models"))

    def test_a_prompt_is_answered_as_a_stream_and_whole(self):
        options = ("-m", "ingot-chat", "-o", "temperature", "0", "-o", "max_tokens", "16")
        streamed = self.say("prompt", OPENING, *options)
        self.assertTrue(streamed.strip())
        self.assertEqual(self.say("prompt", OPENING, *options, "--no-stream"), streamed)

    def test_a_system_message_a_conversation_and_its_log(self):
        options = ("-m", "ingot-chat", "-o", "temperature", "0", "-o", "max_tokens", "8")
        self.say("prompt", OPENING, *options, "-s", "Tell tales.")
        self.say("prompt", "And then?", "-c", "-o", "temperature", "0", "-o", "max_tokens", "8")
        [last] = json.loads(self.say("logs", "list", "-n", "1", "--json"))
        self.assertEqual(last["prompt"], "And then?")
        self.assertGreater(last["output_tokens"], 0)

    def test_a_text_goes_on(self):
        self.assertTrue(self.say("prompt", OPENING, "-m", "ingot-text", "-o", "max_tokens", "8").strip())

    def test_every_option_of_its_chats(self):
        self.say("prompt", OPENING, "-m", "ingot-chat", "-o", "max_tokens", "4", "-o", "top_p", "0.9", "-o", "seed", "1",
                 "-o", "frequency_penalty", "0.5", "-o", "presence_penalty", "0.5", "-o", "stop", "zebra",
                 "-o", "logit_bias", '{"5": -100}')  # fmt: skip

    def test_an_error_is_told_in_its_words(self):
        done = self.llm("prompt", OPENING, "-m", "ingot-unknown")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("talker", done.stderr)
        done = self.llm("prompt", OPENING, "-m", "ingot-chat", "--key", "another")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("key", done.stderr)


if __name__ == "__main__":
    main(__doc__, "llm")
