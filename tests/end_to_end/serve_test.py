#!/usr/bin/env python3
"""Asks `ingot serve` as clients do, rude ones included.

usage: serve_test.py PATH_OF_INGOT PATH_OF_GOLDENS [unittest arguments]
"""

import json
import socket
import threading

from served import GREEDY, OPENING, TEMPLATE, Served, run_served_tests


class Texts(Served):
    def complete_as_chats_begin(self, **fields):
        """What follows a chat's prompt: the template of this test writes no token that begins a text, /v1/completions does."""
        tokens = self.server.post("/tokenize", {"content": OPENING}).json()["tokens"]
        return self.complete(prompt=tokens, **fields)["choices"][0]["text"]

    def test_a_completion_says_what_run_says(self):
        done = self.program.run("run", "-p", OPENING, "-n", "24", "--threads", "1", "--json")
        expected = json.loads(done.stdout)["text"]
        answer = self.complete(max_tokens=24)
        self.assertEqual(answer["choices"][0]["text"], expected)
        self.assertEqual(answer["usage"]["completion_tokens"], 24)
        self.assertEqual(answer["choices"][0]["finish_reason"], "length")

    def test_a_stream_is_the_same_text_in_pieces(self):
        whole = self.complete(max_tokens=24)
        events = self.server.events(
            "/v1/completions", {**GREEDY, "max_tokens": 24, "stream_options": {"include_usage": True}}
        )
        self.assertEqual(events[-1], "[DONE]")
        chunks = [json.loads(event) for event in events[:-1]]
        text = "".join(choice["text"] for chunk in chunks for choice in chunk["choices"])
        self.assertEqual(text, whole["choices"][0]["text"])
        self.assertEqual(chunks[-1]["usage"]["completion_tokens"], 24)
        self.assertEqual(chunks[-1]["choices"], [])

    def test_a_chat_is_a_prompt_by_the_template(self):
        answer = self.server.post(
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": OPENING[1:]}], "temperature": 0, "max_tokens": 24},
        )
        self.assertEqual(answer.status, 200, answer.body)
        message = answer.json()["choices"][0]["message"]
        self.assertEqual(message["role"], "assistant")
        self.assertEqual(message["content"], self.complete_as_chats_begin(max_tokens=24))
        prompt = self.server.post("/apply-template", {"messages": [{"role": "user", "content": "x"}]}).json()["prompt"]
        self.assertEqual(prompt, "\nx")
        count = self.server.post("/v1/chat/completions/input_tokens", {"messages": [{"role": "user", "content": "x"}]})
        self.assertEqual(count.json(), {"input_tokens": len(self.server.post("/tokenize", {"content": prompt}).json()["tokens"])})

    def test_a_chat_goes_on_from_its_last_message(self):
        begun = self.complete_as_chats_begin(max_tokens=8)
        messages = [{"role": "user", "content": OPENING[1:]}, {"role": "assistant", "content": begun}]
        fields = {"messages": messages, "continue_final_message": True, "verbose": True, "temperature": 0}
        answer = self.server.post("/v1/chat/completions", {**fields, "max_tokens": 16}).json()
        self.assertEqual(answer["__verbose"]["prompt"], OPENING + begun)
        whole = self.complete_as_chats_begin(max_tokens=24)
        self.assertEqual(begun + answer["choices"][0]["message"]["content"], whole)

    def test_llama_servers_form_has_the_same_text(self):
        expected = self.complete(max_tokens=24)["choices"][0]["text"]
        tokens = self.server.post("/tokenize", {"content": OPENING, "add_special": True}).json()["tokens"]
        fields = {"temperature": 0, "n_predict": 24}
        for prompt in (OPENING, tokens, {"prompt_string": OPENING}):
            answer = self.server.post("/completion", {**fields, "prompt": prompt}).json()
            self.assertEqual(answer["content"], expected)
            self.assertEqual((answer["stop_type"], answer["tokens"]), ("limit", []))
        events = [json.loads(event) for event in self.server.events("/completion", {**fields, "prompt": OPENING})]
        self.assertEqual("".join(event["content"] for event in events), expected)
        self.assertEqual([event["stop"] for event in events], [False] * 24 + [True])
        biased = self.server.post("/completion", {**fields, "prompt": OPENING, "logit_bias": [[" the", False]]}).json()
        self.assertNotIn(" the ", biased["content"])
        many = {**fields, "prompt": OPENING, "logit_bias": [[" the", 1], [" fox" * 2000, 1]]}
        self.assert_refused(self.server.post("/completion", many), 400, "logit_bias")

    def test_responses_and_messages_have_the_words_of_a_chat(self):
        messages = [{"role": "user", "content": OPENING[1:]}]
        chat = self.server.post("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 24})
        expected = chat.json()["choices"][0]["message"]["content"]
        fields = {"messages": messages, "temperature": 0, "max_tokens": 24}
        message = self.server.post("/v1/messages", fields).json()
        self.assertEqual(message["content"], [{"type": "text", "text": expected}])
        self.assertEqual(message["stop_reason"], "max_tokens")
        events = [json.loads(event) for event in self.server.events("/v1/messages", fields)]
        self.assertEqual(events[-1], {"type": "message_stop"})
        self.assertEqual("".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta"), expected)
        counted = self.server.post("/v1/messages/count_tokens", {"messages": messages}).json()
        self.assertEqual(counted["input_tokens"], message["usage"]["input_tokens"] + message["usage"]["cache_read_input_tokens"])

        fields = {"input": OPENING[1:], "temperature": 0, "max_output_tokens": 24}
        response = self.server.post("/v1/responses", fields).json()
        self.assertEqual(response["output"][0]["content"][0]["text"], expected)
        self.assertEqual(response["status"], "incomplete")
        events = [json.loads(event) for event in self.server.events("/v1/responses", fields)]
        self.assertEqual([event["sequence_number"] for event in events], list(range(len(events))))
        self.assertEqual(events[-1]["type"], "response.incomplete")
        self.assertEqual(events[-1]["response"]["output"][0]["content"], response["output"][0]["content"])
        counted = self.server.post("/v1/responses/input_tokens", {"input": OPENING[1:]}).json()
        self.assertEqual(counted, {"object": "response.input_tokens", "input_tokens": response["usage"]["input_tokens"]})

    def test_messages_are_refused_in_their_own_form(self):
        answer = self.server.post("/v1/messages", {"messages": []})
        self.assertEqual((answer.status, answer.json()["type"], answer.error()["type"]), (400, "error", "invalid_request_error"))
        self.assertEqual(answer.json()["request_id"], answer.headers["request-id"])

    def test_what_is_not_shared_is_computed_again(self):
        text = OPENING + " He was never known to share." * 6
        for fields, is_known in (({}, None), ({}, True), ({"cache_prompt": False}, False)):
            usage = self.complete(prompt=text, max_tokens=1, **fields)["usage"]
            if is_known is not None:
                self.assertEqual(usage["prompt_tokens_details"]["cached_tokens"] > 0, is_known)

    def test_choices_of_several_prompts_stand_in_order(self):
        answer = self.complete(prompt=[OPENING, "\nOnce there was a fox"], n=2, max_tokens=8, ignore_eos=True)
        self.assertEqual([choice["index"] for choice in answer["choices"]], [0, 1, 2, 3])
        texts = [choice["text"] for choice in answer["choices"]]
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[2], texts[3])
        self.assertEqual(answer["usage"]["completion_tokens"], 32)

    def test_a_seed_draws_the_same_and_choices_differ(self):
        fields = {"temperature": 1.5, "seed": 7, "n": 4, "max_tokens": 16}
        first, second = self.complete(**fields), self.complete(**fields)
        texts = [choice["text"] for choice in first["choices"]]
        self.assertEqual(texts, [choice["text"] for choice in second["choices"]])
        self.assertGreater(len(set(texts)), 1)

    def test_a_stop_string_ends_it_and_is_not_shown(self):
        whole = self.complete(max_tokens=24)["choices"][0]["text"]
        stop = whole[10:14]
        answer = self.complete(max_tokens=24, stop=[stop])["choices"][0]
        self.assertEqual(answer["text"], whole[: whole.index(stop)])
        self.assertEqual(answer["finish_reason"], "stop")

    def test_an_echo_tells_how_likely_the_prompt_was(self):
        answer = self.complete(max_tokens=2, echo=True, logprobs=2)["choices"][0]
        self.assertTrue(answer["text"].startswith(OPENING), answer["text"])
        likely = answer["logprobs"]["token_logprobs"]
        self.assertIsNone(likely[0])
        self.assertTrue(all(value <= 0 for value in likely[1:]), likely)
        first, *others = answer["logprobs"]["tokens"]  # the first begins every text, and is not part of it
        self.assertEqual("".join(others), answer["text"])
        alone = self.complete(max_tokens=0, echo=True, logprobs=0)["choices"][0]["logprobs"]["token_logprobs"]
        self.assertEqual(len(alone), len(likely) - 2)

    def test_next_to_no_temperature_is_none(self):
        self.assertEqual(self.complete(max_tokens=8, temperature=5e-324)["choices"][0]["text"],
                         self.complete(max_tokens=8)["choices"][0]["text"])  # fmt: skip

    def test_a_bias_forbids_a_token(self):
        first = self.complete(max_tokens=1)["choices"][0]["text"]
        token = self.server.post("/tokenize", {"content": first}).json()["tokens"][0]
        other = self.complete(max_tokens=1, logit_bias={str(token): -100})["choices"][0]["text"]
        self.assertNotEqual(first, other)

    def test_a_beginning_is_computed_once(self):
        prompt = OPENING * 12
        self.complete(prompt=prompt, max_tokens=1)
        usage = self.complete(prompt=prompt, max_tokens=1)["usage"]
        self.assertGreaterEqual(usage["prompt_tokens_details"]["cached_tokens"], 64)
        apart = self.complete(prompt=prompt, max_tokens=1, cache_salt="mine")["usage"]
        self.assertEqual(apart["prompt_tokens_details"]["cached_tokens"], 0)

    def test_tokens_become_text_again(self):
        tokens = self.server.post("/tokenize", {"content": OPENING}).json()["tokens"]
        self.assertEqual(self.server.post("/detokenize", {"tokens": tokens}).json()["content"], OPENING)

    def test_many_at_once_are_all_answered(self):
        found = []
        ask = lambda: found.append(self.complete(max_tokens=32, ignore_eos=True)["usage"]["completion_tokens"])
        threads = [threading.Thread(target=ask) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [32] * 24)

    def test_models_are_listed_and_health_is_told(self):
        listed = self.server.get("/v1/models").json()["data"]
        self.assertEqual([model["id"] for model in listed], ["tales"])
        self.assertEqual(self.server.get("/v1/models/tales").json()["id"], "tales")
        self.assertTrue(listed[0]["meta"]["has_chat_template"])
        properties = self.server.get("/props").json()
        self.assertEqual(properties["default_generation_settings"]["n_ctx"], listed[0]["meta"]["n_ctx"])
        self.assertEqual(properties["chat_template"], TEMPLATE)
        self.assert_refused(self.server.get("/props?model=other"), 404, "tales")
        self.assertEqual(self.server.get("/health").json(), {"status": "ok"})
        self.assertEqual(self.server.ask("HEAD", "/health").body, "")

    def test_figures_add_up(self):
        name = 'ingot_generation_tokens_total{model_name="tales"}'
        before = self.server.metrics()[name]
        self.complete(max_tokens=5)
        self.assertEqual(self.server.metrics()[name], before + 5)
        text = self.server.get("/metrics").body
        for word in ("ingot_time_to_first_token_seconds_bucket", "ingot_connections ", "ingot_cache_pages{"):
            self.assertIn(word, text)
        memory = self.server.metrics()
        self.assertGreater(memory["process_resident_memory_bytes"], 1 << 20)
        self.assertGreater(memory["ingot_machine_memory_bytes"], memory["ingot_machine_memory_free_bytes"])

    def test_open_files_are_counted(self):
        before = self.server.wait_until_at_rest("tales")["process_open_fds"]
        connections = [socket.create_connection(("127.0.0.1", self.server.port), timeout=60) for _ in range(5)]
        beside = self.server.wait_for_metric("ingot_connections", lambda value: value == 6)  # who asks is one
        self.assertEqual(beside["process_open_fds"], before + 5)
        for connection in connections:
            connection.close()
        self.assertEqual(self.server.wait_until_at_rest("tales")["process_open_fds"], before)

    def test_the_page_loads_nothing_that_is_not_there(self):
        page = self.server.get("/")
        self.assertEqual(page.status, 200)
        self.assertIn("default-src 'none'", page.headers["Content-Security-Policy"])
        self.assertEqual(self.server.get("/page/page.js").status, 200)

    def test_the_models_map_is_shown(self):
        answer = self.server.get("/explain?model=tales")
        self.assertEqual(answer.status, 200, answer.body[:300])
        self.assertIn("<html", answer.body)


class Refusals(Served):
    def test_paths_methods_and_models_that_are_not_there(self):
        self.assert_refused(self.server.get("/nowhere"), 404, "/nowhere")
        self.assert_refused(self.server.get("/page/nothing.js"), 404)
        self.assert_refused(self.server.post("/v1/audio/speech", {}), 404)
        answer = self.server.get("/v1/completions")
        self.assert_refused(answer, 405)
        self.assertIn("POST", answer.headers["Allow"])
        self.assert_refused(self.server.post("/v1/completions", {**GREEDY, "model": "other"}), 404, "tales")
        self.assert_refused(self.server.get("/v1/models/other"), 404, "tales")
        self.assert_refused(self.server.get("/v1/models?limit=5"), 400, "limit")
        self.assert_refused(self.server.get("/explain?format=xml"), 400, "format", "html or json")
        self.assertEqual(self.server.get("/?from=a-letter").status, 200)

    def test_bodies_that_are_no_request(self):
        for body, word in (("{", "byte"), ("[]", "object"), ('{"prompt":"\xff"}'.encode("latin1"), "UTF-8"),
                           ("[" * 200, "100"), ("", "JSON")):  # fmt: skip
            self.assert_refused(self.server.post("/v1/completions", body), 400, word)
        answer = self.server.ask("POST", "/v1/completions", "prompt=x", {"Content-Type": "text/plain"})
        self.assert_refused(answer, 415, "application/json")

    def test_fields_of_a_wrong_type_or_range_are_named(self):
        for field, value in (("temperature", 3), ("max_tokens", "many"), ("n", 0), ("stop", 5), ("logprobs", 99),
                             ("logit_bias", {"x": 1}), ("prompt", {}), ("nonsense", 1), ("suffix", "x")):  # fmt: skip
            answer = self.server.post("/v1/completions", {**GREEDY, field: value})
            self.assert_refused(answer, 400, field)
            self.assertIn(field, answer.error()["param"])
        messages = {"messages": [{"role": "user", "content": "x"}]}
        for field, value in (("tools", [{}]), ("response_format", {"type": "xml"})):
            self.assert_refused(self.server.post("/v1/chat/completions", {**messages, field: value}), 400, field)

    def test_a_prompt_that_is_too_long_says_both_numbers(self):
        answer = self.server.post("/v1/completions", {**GREEDY, "max_tokens": 250})
        self.assert_refused(answer, 400, "context_length_exceeded", "maximum context length is 256 tokens", "250")
        self.assert_refused(self.server.post("/v1/completions", {"prompt": OPENING * 99}), 400, "256")

    def test_a_model_of_texts_makes_no_embeddings(self):
        self.assert_refused(self.server.post("/v1/embeddings", {"input": "x"}), 400, "embeddings")

    def test_names_and_pages_of_others_are_refused(self):
        self.assert_refused(self.server.get("/v1/models", Host="example.org"), 403, "example.org")
        self.assert_refused(self.server.get("/v1/models", Origin="https://example.org"), 403, "example.org")

    def test_what_is_no_http_is_refused(self):
        for head in ("GET /health HTTP/1.1\n\n", "GET /health HTTP/1.1\r\n\r\n",
                     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"):  # fmt: skip
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
                connection.sendall(head.encode())
                self.assertTrue(connection.makefile("rb").read().startswith(b"HTTP/1.1 400 "), head)

    def test_clients_that_leave_leave_nothing_behind(self):
        for _ in range(8):
            stream = self.server.open_stream("/v1/completions", {**GREEDY, "max_tokens": 200, "ignore_eos": True})
            stream.recv(100)
            stream.close()
        labels = 'model_name="tales"'
        self.server.wait_for_metric(f"ingot_num_requests_running{{{labels}}}", lambda value: value == 0)
        self.server.wait_for_metric(f"ingot_cache_pages_in_use{{{labels}}}", lambda value: value == 0)


if __name__ == "__main__":
    run_served_tests()
