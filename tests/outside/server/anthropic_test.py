#!/usr/bin/env python3
"""Anthropic's own client against `ingot serve`.

usage: anthropic_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package anthropic
"""

import json
import urllib.request

from peers import KEY, OPENING, WEATHER, WIDE, Peer, check_weather, main

# The client's newest versions have no argument for how to draw.
TALK = {
    "model": "talker",
    "messages": [{"role": "user", "content": OPENING}],
    "max_tokens": 24,
    "extra_body": {"temperature": 0},
}


class WithClient(Peer):
    def setUp(self):
        import anthropic

        self.anthropic = anthropic
        # The client's own paths begin with /v1.
        self.client = anthropic.Anthropic(base_url=self.base, api_key=KEY, timeout=120, max_retries=0)
        self.addCleanup(self.client.close)


class Messages(WithClient):
    def test_an_answer_has_every_field(self):
        answer = self.client.messages.create(**TALK)
        self.assertEqual((answer.type, answer.role, answer.model), ("message", "assistant", "talker"))
        self.assertTrue(answer.id.startswith("msg_"))
        [block] = answer.content
        self.assertEqual(block.type, "text")
        self.assertTrue(block.text)
        self.assertIn(answer.stop_reason, ("end_turn", "max_tokens"))
        usage = answer.usage
        self.assertGreater(usage.input_tokens + usage.cache_read_input_tokens, 0)
        self.assertLessEqual(usage.output_tokens, 24)
        self.assertTrue(answer._request_id.startswith("req_"))

    def test_the_words_are_those_of_a_chat(self):
        asked = urllib.request.Request(
            self.url + "/chat/completions",
            json.dumps({**TALK, **TALK["extra_body"], "extra_body": None}).encode(),
            {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=120) as found:
            expected = json.load(found)["choices"][0]["message"]["content"]
        self.assertEqual(self.client.messages.create(**TALK).content[0].text, expected)

    def test_a_stream_is_the_answer_in_pieces(self):
        whole = self.client.messages.create(**TALK)
        events = list(self.client.messages.create(**TALK, stream=True))
        kinds = [event.type for event in events]
        self.assertEqual(kinds[:2], ["message_start", "content_block_start"])
        self.assertEqual(kinds[-3:], ["content_block_stop", "message_delta", "message_stop"])
        self.assertEqual(set(kinds[2:-3]), {"content_block_delta"})
        text = "".join(event.delta.text for event in events if event.type == "content_block_delta")
        self.assertEqual(text, whole.content[0].text)
        self.assertEqual(events[-2].delta.stop_reason, whole.stop_reason)
        self.assertEqual(events[-2].usage.output_tokens, whole.usage.output_tokens)

    def test_the_clients_own_gathering_of_a_stream(self):
        whole = self.client.messages.create(**TALK)
        with self.client.messages.stream(**TALK) as stream:
            text = "".join(stream.text_stream)
            gathered = stream.get_final_message()
        self.assertEqual(text, whole.content[0].text)
        self.assertEqual(gathered.content[0].text, text)
        self.assertEqual(gathered.stop_reason, whole.stop_reason)

    def test_stop_sequences(self):
        whole = self.client.messages.create(**TALK).content[0].text
        stop = whole[8:12]
        answer = self.client.messages.create(**TALK, stop_sequences=[stop, "never said"])
        self.assertEqual(answer.content[0].text, whole[: whole.index(stop)])
        self.assertEqual((answer.stop_reason, answer.stop_sequence), ("stop_sequence", stop))

    def test_an_answer_that_was_begun(self):
        whole = self.client.messages.create(**TALK).content[0].text
        begun = self.client.messages.create(**{**TALK, "max_tokens": 8}).content[0].text
        messages = [*TALK["messages"], {"role": "assistant", "content": begun}]
        rest = self.client.messages.create(**{**TALK, "messages": messages, "max_tokens": 16}).content[0].text
        self.assertEqual(begun + rest, whole)

    def test_systems_and_blocks(self):
        blocks = [{"type": "text", "text": OPENING, "cache_control": {"type": "ephemeral"}}]
        answer = self.client.messages.create(
            **{**TALK, "messages": [{"role": "user", "content": blocks}]}, system="Tell tales."
        )
        self.assertTrue(answer.content[0].text)

    def test_tokens_are_counted(self):
        counted = self.client.messages.count_tokens(model="talker", messages=TALK["messages"])
        usage = self.client.messages.create(**TALK).usage
        self.assertEqual(counted.input_tokens, usage.input_tokens + usage.cache_read_input_tokens)


class Tools(WithClient):
    arguments = WIDE
    TOOLS = [{"name": "weather", "description": "Tells it.", "input_schema": WEATHER}]
    CHOICE = {"type": "any", "disable_parallel_tool_use": True}
    ASKED = {**TALK, "max_tokens": 200, "tools": TOOLS, "tool_choice": CHOICE}

    def test_a_call_that_must_come(self):
        for choice in (self.CHOICE, {"type": "tool", "name": "weather", "disable_parallel_tool_use": True}):
            answer = self.client.messages.create(**{**self.ASKED, "tool_choice": choice})
            [block] = answer.content
            self.assertEqual((answer.stop_reason, block.type, block.name), ("tool_use", "tool_use", "weather"))
            check_weather(self, block.input)

    def test_a_call_is_streamed(self):
        [whole] = self.client.messages.create(**self.ASKED).content
        events = list(self.client.messages.create(**self.ASKED, stream=True))
        deltas = [event.delta.partial_json for event in events if event.type == "content_block_delta"]
        self.assertGreater(len(deltas), 2)
        self.assertEqual(json.loads("".join(deltas)), whole.input)
        self.assertEqual(events[-2].delta.stop_reason, "tool_use")
        with self.client.messages.stream(**self.ASKED) as stream:
            [gathered] = stream.get_final_message().content
        self.assertEqual(gathered.input, whole.input)

    def test_a_result_is_sent_back(self):
        answer = self.client.messages.create(**self.ASKED)
        result = {"type": "tool_result", "tool_use_id": answer.content[0].id, "content": "7 degrees"}
        messages = [
            *TALK["messages"],
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": [result, {"type": "text", "text": OPENING}]},
        ]
        said = self.client.messages.create(**{**self.ASKED, "messages": messages, "tool_choice": {"type": "none"}})
        self.assertEqual([block.type for block in said.content], ["text"])

    def test_tools_are_counted(self):
        plain = self.client.messages.count_tokens(model="talker", messages=TALK["messages"]).input_tokens
        tools = self.client.messages.count_tokens(model="talker", messages=TALK["messages"], tools=self.TOOLS)
        self.assertGreater(tools.input_tokens, plain)


class Errors(WithClient):
    def test_what_is_asked_wrongly(self):
        with self.assertRaises(self.anthropic.BadRequestError) as raised:
            self.client.messages.create(**{**TALK, "extra_body": {"top_p": 7}})
        self.assertEqual(raised.exception.body["error"]["type"], "invalid_request_error")
        self.assertIn("top_p", raised.exception.body["error"]["message"])
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
        with self.assertRaises(self.anthropic.BadRequestError) as raised:
            self.client.messages.create(**{**TALK, "messages": [{"role": "user", "content": [picture]}]})
        self.assertIn("image", raised.exception.body["error"]["message"])

    def test_keys_and_models_that_are_not_there(self):
        with self.assertRaises(self.anthropic.NotFoundError):
            self.client.messages.create(**{**TALK, "model": "other"})
        with self.anthropic.Anthropic(base_url=self.base, api_key="another", max_retries=0) as client:
            with self.assertRaises(self.anthropic.AuthenticationError) as raised:
                client.messages.create(**TALK)
            self.assertEqual(raised.exception.body["error"]["type"], "authentication_error")

    def test_an_error_before_a_stream_begins(self):
        with self.assertRaises(self.anthropic.BadRequestError):
            self.client.messages.create(**{**TALK, "max_tokens": 10**6}, stream=True)


if __name__ == "__main__":
    main(__doc__, "anthropic")
