#!/usr/bin/env python3
"""OpenAI's own client against the Responses of `ingot serve`.

usage: responses_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package openai
"""

import json

from peers import KEY, OPENING, WEATHER, WIDE, Peer, check_weather, main

TALK = {"model": "talker", "input": OPENING, "temperature": 0, "max_output_tokens": 24}


class WithClient(Peer):
    def setUp(self):
        import openai

        self.openai = openai
        self.client = openai.OpenAI(base_url=self.url, api_key=KEY, timeout=120, max_retries=0)
        self.addCleanup(self.client.close)


class Responses(WithClient):
    def test_an_answer_has_every_field(self):
        raw = self.client.responses.with_raw_response.create(**TALK, metadata={"a": "b"}, instructions="Tell tales.")
        from openai.types.responses import Response

        Response.model_validate_json(raw.content)  # the client takes whatever comes
        answer = raw.parse()
        self.assertTrue(answer.id.startswith("resp_"))
        self.assertEqual((answer.object, answer.model, answer.metadata), ("response", "talker", {"a": "b"}))
        self.assertTrue(answer.output_text)
        self.assertEqual(answer.output[0].role, "assistant")
        self.assertIn(answer.status, ("completed", "incomplete"))
        self.assertEqual(answer.usage.input_tokens + answer.usage.output_tokens, answer.usage.total_tokens)

    def test_a_limit_of_tokens_leaves_it_incomplete(self):
        answer = self.client.responses.create(**{**TALK, "max_output_tokens": 2})
        self.assertEqual((answer.status, answer.incomplete_details.reason), ("incomplete", "max_output_tokens"))

    def test_a_stream_is_the_answer_in_pieces(self):
        from openai.types.responses import ResponseStreamEvent
        from pydantic import TypeAdapter

        whole = self.client.responses.create(**TALK)
        checker = TypeAdapter(ResponseStreamEvent)
        events = []
        with self.client.responses.with_streaming_response.create(**TALK, stream=True) as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    events.append(checker.validate_python(json.loads(line.removeprefix("data: "))))
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        kinds = [event.type for event in events]
        self.assertEqual(
            kinds[:4],
            ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"],
        )
        self.assertEqual(
            kinds[-4:-1], ["response.output_text.done", "response.content_part.done", "response.output_item.done"]
        )
        self.assertEqual(kinds[-1], f"response.{whole.status}")
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        self.assertEqual(text, whole.output_text)
        self.assertEqual(events[-1].response.output_text, whole.output_text)

    def test_the_clients_own_gathering_of_a_stream(self):
        whole = self.client.responses.create(**TALK)
        with self.client.responses.stream(**TALK) as stream:
            text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        self.assertEqual(text, whole.output_text)

    def test_what_was_said_is_sent_again(self):
        first = self.client.responses.create(**TALK)
        said = [{"role": "user", "content": OPENING}, *first.output, {"role": "user", "content": "And then?"}]
        answer = self.client.responses.create(**{**TALK, "input": said})
        self.assertGreater(answer.usage.input_tokens, first.usage.input_tokens)


class Tools(WithClient):
    arguments = WIDE
    TOOLS = [{"type": "function", "name": "weather", "description": "Tells it.", "parameters": WEATHER, "strict": True}]
    ASKED = {**TALK, "max_output_tokens": 600, "tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}

    def test_a_call_that_must_come(self):
        for choice in ("required", {"type": "function", "name": "weather"}):
            answer = self.client.responses.create(**{**self.ASKED, "tool_choice": choice})
            [call] = answer.output
            self.assertEqual((answer.status, call.type, call.name), ("completed", "function_call", "weather"))
            check_weather(self, json.loads(call.arguments))
            self.assertEqual(answer.tools[0].name, "weather")

    def test_a_call_is_streamed(self):
        [whole] = self.client.responses.create(**self.ASKED).output
        events = list(self.client.responses.create(**self.ASKED, stream=True))
        deltas = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
        self.assertGreater(len(deltas), 2)
        self.assertEqual("".join(deltas), whole.arguments)
        [done] = [event for event in events if event.type == "response.function_call_arguments.done"]
        self.assertEqual(done.arguments, whole.arguments)
        self.assertEqual(events[-1].response.output[0].arguments, whole.arguments)

    def test_a_result_is_sent_back(self):
        [call] = self.client.responses.create(**self.ASKED).output
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "7 degrees"}
        said = [{"role": "user", "content": OPENING}, call, result]
        answer = self.client.responses.create(**{**self.ASKED, "input": said, "tool_choice": "none"})
        self.assertEqual([item.type for item in answer.output], ["message"])

    def test_a_class_is_the_schema_of_an_answer(self):
        from typing import Literal

        import pydantic

        class Weather(pydantic.BaseModel):
            degrees: Literal[7, 21]
            unit: Literal["celsius", "fahrenheit"]

        answer = self.client.responses.parse(**{**TALK, "max_output_tokens": 600}, text_format=Weather)
        self.assertIn(answer.output_parsed.unit, ("celsius", "fahrenheit"))


class Errors(WithClient):
    def test_what_would_need_a_memory_is_refused_by_name(self):
        for name, value in (("previous_response_id", "resp_1"), ("background", True), ("store", True)):
            with self.assertRaises(self.openai.BadRequestError) as raised:
                self.client.responses.create(**TALK, **{name: value})
            self.assertEqual(raised.exception.param, name)
        with self.assertRaises(self.openai.NotFoundError):
            self.client.responses.retrieve("resp_1")

    def test_what_is_asked_wrongly(self):
        with self.assertRaises(self.openai.BadRequestError) as raised:
            self.client.responses.create(**{**TALK, "input": [{"role": "user", "content": [{"type": "input_image"}]}]})
        self.assertEqual(raised.exception.param, "input[0].content[0]")


if __name__ == "__main__":
    main(__doc__, "openai")
