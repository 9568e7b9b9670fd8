#!/usr/bin/env python3
"""litellm against `ingot serve`, as an OpenAI-compatible endpoint.

usage: litellm_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package litellm
"""

from peers import KEY, OPENING, Peer, main

MESSAGES = [{"role": "user", "content": OPENING}]


class Litellm(Peer):
    def setUp(self):
        import litellm

        litellm.telemetry = False
        litellm.suppress_debug_info = True
        self.litellm = litellm
        self.chat = {"model": "openai/talker", "messages": MESSAGES, "temperature": 0, "max_tokens": 16,
                     "api_base": self.url, "api_key": KEY, "num_retries": 0, "timeout": 120}  # fmt: skip

    def test_chat_and_stream_say_the_same(self):
        whole = self.litellm.completion(**self.chat)
        self.assertTrue(whole.choices[0].message.content)
        chunks = list(self.litellm.completion(**self.chat, stream=True, stream_options={"include_usage": True}))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        gathered = self.litellm.stream_chunk_builder(chunks, messages=MESSAGES)
        self.assertEqual(gathered.choices[0].message.content, text)
        self.assertEqual(gathered.usage.completion_tokens, whole.usage.completion_tokens)

    def test_choices_stops_and_log_probabilities(self):
        several = self.litellm.completion(**{**self.chat, "n": 2, "temperature": 1.2, "seed": 3})
        self.assertEqual(len(several.choices), 2)
        whole = self.litellm.completion(**self.chat).choices[0].message.content
        stop = whole[6:9]
        stopped = self.litellm.completion(**self.chat, stop=[stop]).choices[0]
        self.assertEqual(stopped.message.content, whole[: whole.index(stop)])
        told = self.litellm.completion(**self.chat, logprobs=True, top_logprobs=2).choices[0].logprobs
        self.assertEqual(len(told.content[0].top_logprobs), 2)

    def test_texts(self):
        asked = {**self.chat, "model": "text-completion-openai/talker", "prompt": "\n" + OPENING}
        del asked["messages"]
        whole = self.litellm.text_completion(**asked)
        self.assertTrue(whole.choices[0].text)
        chunks = self.litellm.text_completion(**asked, stream=True)
        self.assertEqual("".join(chunk.choices[0].text or "" for chunk in chunks), whole.choices[0].text)

    def test_embeddings(self):
        answer = self.litellm.embedding(
            model="openai/embedder", input=["a b", "c"], api_base=self.url, api_key=KEY, encoding_format="float"
        )
        self.assertEqual([len(item["embedding"]) for item in answer.data], [40, 40])

    def test_errors_have_their_classes(self):
        errors = self.litellm.exceptions
        for changes, expected in (
            ({"temperature": 9}, errors.BadRequestError),
            ({"max_tokens": 10**6}, errors.ContextWindowExceededError),
            ({"model": "openai/other"}, errors.NotFoundError),
            ({"api_key": "another"}, errors.AuthenticationError),
        ):
            with self.subTest(expected=expected.__name__), self.assertRaises(expected):
                self.litellm.completion(**{**self.chat, **changes})

    def test_a_client_without_patience(self):
        with self.assertRaises(self.litellm.exceptions.Timeout):
            self.litellm.completion(
                **{**self.chat, "timeout": 0.001, "max_tokens": 200, "n": 8}, extra_body={"ignore_eos": True}
            )
        self.wait_until_nothing_runs()

    def test_a_router_takes_it_as_a_deployment(self):
        deployed = {"model": "openai/talker", "api_base": self.url, "api_key": KEY}
        router = self.litellm.Router(model_list=[{"model_name": "tales", "litellm_params": deployed}])
        self.assertTrue(router.completion(model="tales", messages=MESSAGES, max_tokens=4).choices)


if __name__ == "__main__":
    main(__doc__, "litellm")
