#!/usr/bin/env python3
"""instructor against `ingot serve`.

usage: instructor_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the packages instructor and openai
"""

from typing import Literal

from peers import KEY, OPENING, WIDE, Peer, main

CHAT = {"model": "talker", "messages": [{"role": "user", "content": OPENING}], "temperature": 0, "max_tokens": 600}


class Instructor(Peer):
    arguments = WIDE

    def setUp(self):
        import instructor
        import openai
        import pydantic

        # Without further fields, of which a model that tells tales would never come to an end.
        class Weather(pydantic.BaseModel, extra="forbid"):
            degrees: Literal[7, 21]
            unit: Literal["celsius", "fahrenheit"]

        self.instructor, self.answer = instructor, Weather
        self.client = openai.OpenAI(base_url=self.url, api_key=KEY, timeout=120, max_retries=0)
        self.addCleanup(self.client.close)

    def ask(self, mode, **fields):
        client = self.instructor.from_openai(self.client, mode=mode)
        return client.chat.completions.create(**CHAT, response_model=self.answer, max_retries=0, **fields)

    def test_answers_by_a_tool(self):
        self.assertIn(self.ask(self.instructor.Mode.TOOLS).unit, ("celsius", "fahrenheit"))

    def test_answers_by_a_schema(self):
        self.assertIn(self.ask(self.instructor.Mode.JSON_SCHEMA).unit, ("celsius", "fahrenheit"))

    def test_answers_that_grow(self):
        client = self.instructor.from_openai(self.client, mode=self.instructor.Mode.TOOLS)
        grown = list(client.chat.completions.create_partial(**CHAT, response_model=self.answer, max_retries=0))
        self.assertIn(grown[-1].unit, ("celsius", "fahrenheit"))


if __name__ == "__main__":
    main(__doc__, "instructor", "openai")
