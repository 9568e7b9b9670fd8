#!/usr/bin/env python3
"""OpenAI's own client against `ingot serve`.

usage: openai_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package openai
"""

import asyncio
import json
import math

from peers import KEY, OPENING, WEATHER, WIDE, Peer, check_weather, main

CHAT = {"model": "talker", "messages": [{"role": "user", "content": OPENING}], "temperature": 0, "max_tokens": 24}
TEXT = {"model": "talker", "prompt": "\n" + OPENING, "temperature": 0, "max_tokens": 24}


class WithClient(Peer):
    def setUp(self):
        import openai

        self.openai = openai
        self.client = openai.OpenAI(base_url=self.url, api_key=KEY, timeout=120, max_retries=0)
        self.addCleanup(self.client.close)


class Chats(WithClient):
    def test_an_answer_has_every_field(self):
        answer = self.client.chat.completions.create(**CHAT)
        self.assertEqual(answer.object, "chat.completion")
        self.assertEqual(answer.model, "talker")
        self.assertTrue(answer.id.startswith("chatcmpl-"))
        [choice] = answer.choices
        self.assertEqual((choice.message.role, choice.index), ("assistant", 0))
        self.assertTrue(choice.message.content)
        self.assertIn(choice.finish_reason, ("stop", "length"))
        self.assertEqual(answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage.total_tokens)
        self.assertIsNotNone(answer.usage.prompt_tokens_details.cached_tokens)

    def test_a_stream_is_the_answer_in_pieces(self):
        whole = self.client.chat.completions.create(**CHAT)
        chunks = list(self.client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens)
        ends = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason]
        self.assertEqual(ends, [whole.choices[0].finish_reason])
        self.assertEqual(len({chunk.id for chunk in chunks}), 1)

    def test_the_clients_own_gathering_of_a_stream(self):
        whole = self.client.chat.completions.create(**CHAT)
        with self.client.chat.completions.stream(**CHAT) as stream:
            kinds = {event.type for event in stream}
            gathered = stream.current_completion_snapshot  # get_final_completion takes a text's limit for an error
        self.assertIn("content.delta", kinds)
        self.assertEqual(gathered.choices[0].message.content, whole.choices[0].message.content)

    def test_several_choices(self):
        answer = self.client.chat.completions.create(**{**CHAT, "temperature": 1.5, "n": 3, "seed": 4})
        self.assertEqual([choice.index for choice in answer.choices], [0, 1, 2])
        self.assertGreater(len({choice.message.content for choice in answer.choices}), 1)
        chunks = self.client.chat.completions.create(**{**CHAT, "temperature": 1.5, "n": 3, "seed": 4}, stream=True)
        texts = ["", "", ""]
        for chunk in chunks:
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
        self.assertEqual(texts, [choice.message.content for choice in answer.choices])

    def test_log_probabilities(self):
        answer = self.client.chat.completions.create(**CHAT, logprobs=True, top_logprobs=3).choices[0]
        tokens = answer.logprobs.content
        self.assertEqual(b"".join(bytes(token.bytes) for token in tokens).decode(), answer.message.content)
        for token in tokens:
            self.assertEqual(len(token.top_logprobs), 3)
            self.assertAlmostEqual(token.logprob, token.top_logprobs[0].logprob, places=5)  # greedy
            self.assertLessEqual(sum(math.exp(other.logprob) for other in token.top_logprobs), 1.0001)
        streamed = []
        for chunk in self.client.chat.completions.create(**CHAT, logprobs=True, top_logprobs=3, stream=True):
            for choice in chunk.choices:
                streamed += choice.logprobs.content if choice.logprobs else []
        self.assertEqual([token.token for token in streamed], [token.token for token in tokens])

    def test_stop_strings(self):
        whole = self.client.chat.completions.create(**CHAT).choices[0].message.content
        stop = whole[8:12]
        answer = self.client.chat.completions.create(**CHAT, stop=[stop, "never said"]).choices[0]
        self.assertEqual(answer.message.content, whole[: whole.index(stop)])
        self.assertEqual(answer.finish_reason, "stop")

    def test_messages_of_parts_and_every_role(self):
        messages = [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "text", "text": "there"}]},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "name": "ralf", "content": OPENING},
        ]
        answer = self.client.chat.completions.create(**{**CHAT, "messages": messages, "max_tokens": 4})
        self.assertTrue(answer.choices)

    def test_harmless_fields_are_taken(self):
        answer = self.client.chat.completions.create(
            **CHAT, user="someone", metadata={"a": "b"}, store=False, service_tier="auto", logit_bias={"5": -100},
            frequency_penalty=0.1, presence_penalty=0.1, top_p=0.9, seed=1, response_format={"type": "text"},
            parallel_tool_calls=False,
        )  # fmt: skip
        self.assertTrue(answer.choices)

    def test_a_raw_answer_shows_its_head(self):
        raw = self.client.chat.completions.with_raw_response.create(**CHAT)
        self.assertEqual(raw.headers["content-type"], "application/json")
        self.assertTrue(raw.parse().choices)


class Completions(WithClient):
    def test_texts_tokens_and_lists_of_them(self):
        one = self.client.completions.create(**TEXT)
        self.assertEqual(one.object, "text_completion")
        several = self.client.completions.create(
            **{**TEXT, "prompt": [TEXT["prompt"], TEXT["prompt"]], "max_tokens": 4}
        )
        self.assertEqual([choice.index for choice in several.choices], [0, 1])
        tokens = self.client.completions.create(**{**TEXT, "prompt": [[5, 6, 7], [8]], "max_tokens": 4})
        self.assertEqual(tokens.usage.prompt_tokens, 4)

    def test_a_stream_is_the_text_in_pieces(self):
        whole = self.client.completions.create(**TEXT).choices[0].text
        chunks = self.client.completions.create(**TEXT, stream=True)
        self.assertEqual("".join(choice.text for chunk in chunks for choice in chunk.choices), whole)

    def test_an_echo_with_log_probabilities(self):
        told = self.client.completions.create(**{**TEXT, "max_tokens": 2, "echo": True, "logprobs": 2}).choices[0]
        lists = told.logprobs
        self.assertEqual(
            len({len(lists.tokens), len(lists.token_logprobs), len(lists.top_logprobs), len(lists.text_offset)}), 1
        )
        self.assertIsNone(lists.token_logprobs[0])
        self.assertTrue(all(value <= 0 for value in lists.token_logprobs[1:]))
        self.assertEqual(lists.text_offset, sorted(lists.text_offset))
        self.assertIn(OPENING, told.text)


class Embeddings(WithClient):
    def test_texts_become_unit_vectors(self):
        # The client asks for base64 where numpy is there or not, and decodes it.
        answer = self.client.embeddings.create(model="embedder", input=["a b c", "d"])
        floats = self.client.embeddings.create(model="embedder", input=["a b c", "d"], encoding_format="float")
        self.assertEqual([item.index for item in answer.data], [0, 1])
        for found, expected in zip(answer.data, floats.data):
            self.assertEqual(len(found.embedding), 40)
            self.assertAlmostEqual(sum(value * value for value in found.embedding), 1, places=4)
            for left, right in zip(found.embedding, expected.embedding):
                self.assertAlmostEqual(left, right, places=5)
        self.assertIn(answer.usage.prompt_tokens, (4, 8))  # of a GGUF file, with a mark at both ends of a text

    def test_tokens_and_fewer_dimensions(self):
        answer = self.client.embeddings.create(model="embedder", input=[[5, 6], [7]], dimensions=8)
        self.assertEqual([len(item.embedding) for item in answer.data], [8, 8])


class Models(WithClient):
    def test_models_are_listed(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["talker", "embedder"])
        self.assertEqual(self.client.models.retrieve("embedder").object, "model")


class Errors(WithClient):
    """The client tells errors apart by their status."""

    def test_what_is_wrong_with_a_request(self):
        ask = self.client.chat.completions.create
        with self.assertRaises(self.openai.BadRequestError) as raised:
            ask(**{**CHAT, "temperature": 9})
        self.assertEqual(raised.exception.param, "temperature")
        self.assertIn("9", raised.exception.message)
        with self.assertRaises(self.openai.BadRequestError) as raised:
            ask(**{**CHAT, "max_tokens": 10**6})
        self.assertEqual(raised.exception.code, "context_length_exceeded")
        with self.assertRaises(self.openai.BadRequestError) as raised:
            ask(**CHAT, tools=[{"type": "custom", "custom": {"name": "f"}}])
        self.assertEqual(raised.exception.param, "tools[0].type")
        with self.assertRaises(self.openai.BadRequestError) as raised:
            ask(**CHAT, functions=[{"name": "f", "parameters": {"type": "object", "properties": {}}}])
        self.assertEqual(raised.exception.param, "functions")
        with self.assertRaises(self.openai.BadRequestError):
            self.client.embeddings.create(model="talker", input="a")

    def test_models_and_paths_that_are_not_there(self):
        with self.assertRaises(self.openai.NotFoundError) as raised:
            self.client.chat.completions.create(**{**CHAT, "model": "other"})
        self.assertIn("talker", raised.exception.message)
        with self.assertRaises(self.openai.NotFoundError):
            self.client.models.retrieve("other")
        with self.assertRaises(self.openai.NotFoundError):
            self.client.audio.speech.create(model="talker", voice="alloy", input="a")

    def test_a_wrong_key(self):
        with self.openai.OpenAI(base_url=self.url, api_key="another", max_retries=0) as client:
            with self.assertRaises(self.openai.AuthenticationError) as raised:
                client.models.list()
            self.assertEqual(raised.exception.code, "invalid_api_key")

    def test_an_error_before_a_stream_begins(self):
        with self.assertRaises(self.openai.BadRequestError):
            self.client.chat.completions.create(**{**CHAT, "top_p": 7}, stream=True)


class Tools(WithClient):
    arguments = WIDE
    TOOLS = [
        {"type": "function", "function": {"name": "weather", "description": "Tells it.", "parameters": WEATHER}},
        {"type": "function", "function": {"name": "clock"}},
    ]
    NAMED = {"type": "function", "function": {"name": "weather"}}
    ASKED = {**CHAT, "max_tokens": 600, "tools": TOOLS, "parallel_tool_calls": False}

    def test_a_call_that_must_come(self):
        for choice in ("required", self.NAMED):
            answer = self.client.chat.completions.create(**self.ASKED, tool_choice=choice).choices[0]
            self.assertEqual(answer.finish_reason, "tool_calls")
            self.assertIsNone(answer.message.content)
            [call] = answer.message.tool_calls
            self.assertEqual((call.type, len(call.id)), ("function", 9))
            self.assertIn(call.function.name, ("weather", "clock"))
            if call.function.name == "weather":
                check_weather(self, json.loads(call.function.arguments))

    def test_a_call_is_streamed(self):
        whole = self.client.chat.completions.create(**self.ASKED, tool_choice=self.NAMED).choices[0].message
        chunks = list(self.client.chat.completions.create(**self.ASKED, tool_choice=self.NAMED, stream=True))
        calls = [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or []]
        self.assertEqual({call.index for call in calls}, {0})
        self.assertEqual(calls[0].function.name, "weather")
        self.assertEqual(len(calls[0].id), 9)
        self.assertTrue(all(call.id is None and call.function.name is None for call in calls[1:]))
        self.assertGreater(len(calls), 3)
        arguments = "".join(call.function.arguments for call in calls)
        self.assertEqual(arguments, whole.tool_calls[0].function.arguments)
        self.assertEqual(chunks[-1].choices[0].finish_reason, "tool_calls")

    def test_the_clients_own_gathering_of_calls(self):
        with self.client.chat.completions.stream(**self.ASKED, tool_choice=self.NAMED) as stream:
            kinds = {event.type for event in stream}
            [call] = stream.get_final_completion().choices[0].message.tool_calls
        self.assertIn("tool_calls.function.arguments.delta", kinds)
        check_weather(self, json.loads(call.function.arguments))

    def test_a_result_is_sent_back(self):
        message = self.client.chat.completions.create(**self.ASKED, tool_choice=self.NAMED).choices[0].message
        result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "7 degrees"}
        messages = [*CHAT["messages"], message, result]
        answer = self.client.chat.completions.create(**{**self.ASKED, "messages": messages}, tool_choice="none")
        self.assertIsNone(answer.choices[0].message.tool_calls)

    def test_a_model_that_need_not_call(self):
        answer = self.client.chat.completions.create(**self.ASKED).choices[0]
        self.assertTrue(answer.message.content or answer.message.tool_calls)
        self.assertIn(answer.finish_reason, ("stop", "length", "tool_calls"))

    def test_what_cannot_be_chosen_or_enforced(self):
        other = {"type": "function", "function": {"name": "other"}}
        with self.assertRaises(self.openai.BadRequestError) as raised:
            self.client.chat.completions.create(**self.ASKED, tool_choice=other)
        self.assertEqual(raised.exception.param, "tool_choice")
        odd = {"type": "object", "properties": {"a": {"type": "string", "unheardOf": 1}}}
        tools = [{"type": "function", "function": {"name": "f", "parameters": odd}}]
        with self.assertRaises(self.openai.BadRequestError) as raised:
            self.client.chat.completions.create(**{**self.ASKED, "tools": tools}, tool_choice="required")
        self.assertIn("unheardOf", raised.exception.message)

    def test_a_class_is_the_schema_of_an_answer(self):
        from typing import Literal

        import pydantic

        class Weather(pydantic.BaseModel):
            degrees: Literal[7, 21]
            unit: Literal["celsius", "fahrenheit"]

        answer = self.client.chat.completions.parse(
            **{**CHAT, "max_tokens": 600}, response_format=Weather
        )
        self.assertIn(answer.choices[0].message.parsed.unit, ("celsius", "fahrenheit"))


class Crowds(WithClient):
    def test_many_clients_at_once(self):
        async def ask():
            async with self.openai.AsyncOpenAI(base_url=self.url, api_key=KEY, timeout=120, max_retries=0) as client:
                return await asyncio.gather(*(client.chat.completions.create(**CHAT) for _ in range(12)))

        self.assertEqual(len([answer.choices[0] for answer in asyncio.run(ask())]), 12)


class Leaving(WithClient):
    """Whoever leaves is not computed for any more."""

    arguments = ("--sequences", "4")
    LONG = {**TEXT, "max_tokens": 200, "extra_body": {"ignore_eos": True}}

    def test_a_stream_that_is_closed(self):
        with self.client.completions.create(**self.LONG, stream=True) as stream:
            next(iter(stream))
        self.wait_until_nothing_runs()

    def test_a_client_without_patience(self):
        with self.assertRaises(self.openai.APITimeoutError):
            self.client.with_options(timeout=0.001).completions.create(**{**self.LONG, "n": 8})
        self.wait_until_nothing_runs()


if __name__ == "__main__":
    main(__doc__, "openai")
