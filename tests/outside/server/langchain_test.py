#!/usr/bin/env python3
"""langchain-openai against `ingot serve`.

usage: langchain_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package langchain-openai
"""

import asyncio
from typing import Literal

from peers import KEY, OPENING, WIDE, Peer, main


class Langchain(Peer):
    arguments = WIDE

    def setUp(self):
        import langchain_openai

        self.langchain = langchain_openai
        self.common = {"base_url": self.url, "api_key": KEY, "max_retries": 0, "timeout": 120}
        self.chat = langchain_openai.ChatOpenAI(model="talker", temperature=0, max_tokens=16, **self.common)

    def test_a_chat_is_answered(self):
        answer = self.chat.invoke([("system", "Tell tales."), ("human", OPENING)])
        self.assertTrue(answer.content)
        self.assertIn(answer.response_metadata["finish_reason"], ("stop", "length"))
        self.assertEqual(
            answer.usage_metadata["output_tokens"], answer.response_metadata["token_usage"]["completion_tokens"]
        )

    def test_a_stream_says_the_same(self):
        whole = self.chat.invoke(OPENING)
        gathered = None
        for chunk in self.chat.stream(OPENING, stream_usage=True):
            gathered = chunk if gathered is None else gathered + chunk
        self.assertEqual(gathered.content, whole.content)
        self.assertEqual(gathered.usage_metadata["output_tokens"], whole.usage_metadata["output_tokens"])

    def test_batches_and_asynchronous_streams(self):
        answers = self.chat.batch([OPENING] * 6)
        self.assertEqual(len({answer.content for answer in answers}), 1)

        async def read():
            return "".join([chunk.content async for chunk in self.chat.astream(OPENING)])

        self.assertEqual(asyncio.run(read()), answers[0].content)

    def test_bound_options(self):
        from langchain_core.messages import HumanMessage

        whole = self.chat.invoke(OPENING).content
        stop = whole[6:9]
        self.assertEqual(self.chat.bind(stop=[stop]).invoke(OPENING).content, whole[: whole.index(stop)])
        told = self.chat.bind(logprobs=True, top_logprobs=2).invoke(OPENING).response_metadata["logprobs"]["content"]
        self.assertEqual(len(told[0]["top_logprobs"]), 2)
        several = self.langchain.ChatOpenAI(model="talker", temperature=1.2, n=3, max_tokens=8, seed=1, **self.common)
        self.assertEqual(len(several.generate([[HumanMessage(OPENING)]]).generations[0]), 3)

    def test_a_chain(self):
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate

        chain = ChatPromptTemplate.from_messages([("human", "Once there was a cook named {name}.")]) | self.chat
        self.assertTrue((chain | StrOutputParser()).invoke({"name": "Ralf"}))

    def test_texts(self):
        model = self.langchain.OpenAI(model="talker", temperature=0, max_tokens=16, **self.common)
        whole = model.invoke("\n" + OPENING)
        self.assertTrue(whole)
        self.assertEqual("".join(model.stream("\n" + OPENING)), whole)

    def test_embeddings_of_texts(self):
        # Tokens would be those of OpenAI's models: other servers are asked with texts.
        model = self.langchain.OpenAIEmbeddings(
            model="embedder", check_embedding_ctx_length=False, base_url=self.url, api_key=KEY
        )
        vectors = model.embed_documents(["a b", "c"])
        self.assertEqual([len(vector) for vector in vectors], [40, 40])
        for left, right in zip(model.embed_query("a b"), vectors[0]):
            self.assertAlmostEqual(left, right, places=5)

    def test_errors_have_their_classes(self):
        import openai

        with self.assertRaises(openai.BadRequestError):
            self.chat.bind(top_p=7).invoke(OPENING)
        # Newer versions of openai leave the code out of the text in which langchain looks for it.
        with self.assertRaises(openai.BadRequestError) as raised:
            self.chat.bind(max_tokens=10**6).invoke(OPENING)
        self.assertEqual(raised.exception.code, "context_length_exceeded")
        with self.assertRaises(openai.AuthenticationError):
            self.langchain.ChatOpenAI(model="talker", **{**self.common, "api_key": "another"}).invoke(OPENING)
        with self.assertRaises(openai.NotFoundError):
            self.langchain.ChatOpenAI(model="other", **self.common).invoke(OPENING)

    def test_tools_are_bound(self):
        def weather(city: str, unit: Literal["celsius", "fahrenheit"]) -> str:
            """The weather of a city."""
            return city + unit

        chat = self.langchain.ChatOpenAI(model="talker", temperature=0, max_tokens=600, **self.common)
        # A name of any length: what is cut off is no call.
        bound = chat.bind_tools([weather], tool_choice="weather", parallel_tool_calls=False)
        answer = bound.invoke(OPENING)
        gathered = None
        for chunk in bound.stream(OPENING):
            gathered = chunk if gathered is None else gathered + chunk
        if answer.response_metadata["finish_reason"] == "tool_calls":
            [call] = answer.tool_calls
            self.assertEqual(call["name"], "weather")
            self.assertIn(call["args"]["unit"], ("celsius", "fahrenheit"))
            self.assertEqual(gathered.tool_calls[0]["args"], call["args"])
        self.assertEqual(
            gathered.response_metadata["finish_reason"], answer.response_metadata["finish_reason"]
        )

    def test_answers_have_a_class(self):
        import pydantic

        class Weather(pydantic.BaseModel):
            """The weather."""

            degrees: Literal[7, 21]
            unit: Literal["celsius", "fahrenheit"]

        chat = self.langchain.ChatOpenAI(model="talker", temperature=0, max_tokens=600, **self.common)
        for method in ("json_schema", "function_calling"):
            weather = chat.with_structured_output(Weather, method=method).invoke(OPENING)
            self.assertIn(weather.unit, ("celsius", "fahrenheit"), method)


if __name__ == "__main__":
    main(__doc__, "langchain_openai")
