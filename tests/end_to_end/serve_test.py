#!/usr/bin/env python3
"""Asks `ingot serve` as clients do, rude ones included.

usage: serve_test.py PATH_OF_INGOT PATH_OF_GOLDENS [unittest arguments]
"""

import contextlib
import json
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from embedder import make_embedder
from program import Program
from served import Server

TEMPLATE = "\n{% for message in messages %}{{ message.content }}{% endfor %}"
OPENING = "\nOnce there was a thoughtful cook named Ralf."  # which the model goes on from at length
CERTIFICATES = Path(__file__).resolve().parent.parent / "server"
GREEDY = {"prompt": OPENING, "temperature": 0}

program: Program
goldens: Path


class Served(unittest.TestCase):
    """One server for all tests of a class."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        template = Path(cls.folder.name) / "chat.jinja"
        template.write_text(TEMPLATE)
        cls.server = Server(program, "--template", template, "--threads", "1", *cls.options(Path(cls.folder.name)))
        cls.addClassCleanup(cls.server.__exit__)

    @classmethod
    def options(cls, folder):
        return cls.arguments

    def complete(self, **fields):
        answer = self.server.post("/v1/completions", {**GREEDY, **fields})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def assert_refused(self, answer, status, *words):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        error = answer.error()
        self.assertLessEqual({"message", "type", "param", "code"}, set(error))
        for word in words:
            self.assertIn(word, json.dumps(error))


class Texts(Served):
    def test_a_completion_says_what_run_says(self):
        done = program.run("run", "-p", OPENING, "-n", "24", "--threads", "1", "--json")
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
        self.assertEqual(message["content"], self.complete(max_tokens=24)["choices"][0]["text"])
        prompt = self.server.post("/apply-template", {"messages": [{"role": "user", "content": "x"}]}).json()["prompt"]
        self.assertEqual(prompt, "\nx")
        count = self.server.post("/v1/chat/completions/input_tokens", {"messages": [{"role": "user", "content": "x"}]})
        self.assertEqual(count.json(), {"input_tokens": len(self.server.post("/tokenize", {"content": prompt}).json()["tokens"])})

    def test_a_chat_goes_on_from_its_last_message(self):
        begun = self.complete(max_tokens=8)["choices"][0]["text"]
        messages = [{"role": "user", "content": OPENING[1:]}, {"role": "assistant", "content": begun}]
        fields = {"messages": messages, "continue_final_message": True, "verbose": True, "temperature": 0}
        answer = self.server.post("/v1/chat/completions", {**fields, "max_tokens": 16}).json()
        self.assertEqual(answer["__verbose"]["prompt"], OPENING + begun)
        whole = self.complete(max_tokens=24)["choices"][0]["text"]
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
        for field, value in (("tools", [{}]), ("response_format", {"type": "json_object"})):
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


class Keys(Served):
    @classmethod
    def options(cls, folder):
        keys = folder / "keys"
        keys.write_text("right-key\n")
        keys.chmod(0o600)
        return ("--api-key-file", keys, "--cors", "https://example.org", "--no-page")

    def test_only_who_has_a_key_is_answered(self):
        self.assert_refused(self.server.get("/v1/models"), 401)
        self.assert_refused(self.server.get("/v1/models", Authorization="Bearer wrong-key"), 401)
        self.assertEqual(self.server.get("/v1/models", Authorization="Bearer right-key").status, 200)
        self.assertEqual(self.server.get("/health").status, 200)
        self.assert_refused(self.server.get("/metrics"), 401)
        self.assert_refused(self.server.get("/nowhere"), 401)

    def test_a_body_is_asked_for_only_from_who_has_a_key(self):
        head = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\nExpect: 100-continue\r\n"
        for key, status in (("", b"HTTP/1.1 401 "), ("Authorization: Bearer right-key\r\n", b"HTTP/1.1 100 ")):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
                connection.sendall(f"{head}{key}\r\n".encode())
                self.assertTrue(connection.makefile("rb").readline().startswith(status), status)

    def test_an_allowed_page_is_told_so(self):
        asked = self.server.ask("OPTIONS", "/v1/models", None, {"Origin": "https://example.org"})
        self.assertEqual(asked.status, 200)
        self.assertEqual(asked.headers["Access-Control-Allow-Origin"], "https://example.org")
        other = self.server.ask("OPTIONS", "/v1/models", None, {"Origin": "https://example.net"})
        self.assertNotIn("Access-Control-Allow-Origin", other.headers)
        self.assert_refused(self.server.get("/v1/models", Origin="https://example.net"), 403)

    def test_no_page_where_none_is_wanted(self):
        self.assert_refused(self.server.get("/"), 404)


class Narrow(Served):
    """Room for one request, and one that waits."""

    arguments = ("--sequences", "1", "--queue", "1")

    def test_what_does_not_fit_the_queue_is_refused_for_now(self):
        fields = {**GREEDY, "max_tokens": 200, "ignore_eos": True}
        streams = []
        statuses = []
        for _ in range(12):
            stream = self.server.open_stream("/v1/completions", fields)
            streams.append(stream)
        for stream in streams:
            head = stream.makefile("rb").readline()
            statuses.append(int(head.split()[1]))
            stream.close()
        self.assertEqual(set(statuses) - {200, 429}, set())
        self.assertIn(200, statuses)
        refused = self.server.metrics()['ingot_requests_refused_total{model_name="tales"}']
        self.assertEqual(statuses.count(429), refused)


class Deadlines(Served):
    arguments = ("--deadline", "0.000001")

    def test_a_deadline_that_has_passed_is_told(self):
        self.assert_refused(self.server.post("/v1/completions", {**GREEDY, "max_tokens": 20}), 504)


class Several(Served):
    @classmethod
    def options(cls, folder):
        embedder = make_embedder(goldens, folder / "bert")
        return ("built-in:tales", embedder, "--alias", "talker", "--unix", folder / "socket", "--context", "64")

    def test_each_model_does_what_it_can(self):
        answer = self.server.post("/v1/embeddings", {"model": "bert", "input": [[5, 9, 2], [40, 7]]})
        self.assertEqual(answer.status, 200, answer.body)
        for item in answer.json()["data"]:
            self.assertAlmostEqual(sum(value * value for value in item["embedding"]), 1, places=4)
        words = self.server.post("/v1/embeddings", {"model": "bert", "input": "a b", "encoding_format": "base64"})
        self.assertEqual(words.json()["usage"]["prompt_tokens"], 2)
        self.assert_refused(self.server.post("/v1/embeddings", {"model": "bert", "input": [[5] * 33]}), 400, "33", "too large")
        many = self.server.post("/v1/embeddings", {"model": "bert", "input": [[5, 9, 2]] * 600})
        self.assertEqual(len(many.json()["data"]), 600)
        self.assertEqual(self.complete(model="talker", max_tokens=4)["model"], "talker")
        self.assert_refused(self.server.post("/v1/completions", {**GREEDY, "model": "bert"}), 400, "embeddings")

    def test_a_unix_socket_answers_too(self):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(Path(self.folder.name) / "socket"))
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n")
            self.assertIn(b'{"status":"ok"}', connection.makefile("rb").read())


class Encrypted(Served):
    @classmethod
    def options(cls, folder):
        shutil.copy(CERTIFICATES / "localhost_key.pem", folder)
        (folder / "localhost_key.pem").chmod(0o600)
        certificate = CERTIFICATES / "localhost_certificate.pem"
        return ("--certificate", certificate, "--private-key", folder / "localhost_key.pem")

    def connect(self, **changes):
        context = ssl.create_default_context(cafile=CERTIFICATES / "localhost_certificate.pem")
        for name, value in changes.items():
            setattr(context, name, value)
        plain = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        return context.wrap_socket(plain, server_hostname="localhost")

    def ask(self, connection, path, fields):
        body = json.dumps(fields)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return connection.makefile("rb").read()

    def test_texts_and_streams_come_whole(self):
        with self.connect() as connection:
            self.assertEqual(connection.version(), "TLSv1.3")
            stream = self.ask(connection, "/v1/completions", {**GREEDY, "max_tokens": 40, "stream": True})
            self.assertIn(b"data: [DONE]", stream)

    def test_bodies_and_answers_of_many_records_come_whole(self):
        with self.connect() as connection:
            answer = self.ask(connection, "/tokenize", {"content": "a fox " * 100_000})
            self.assertEqual(len(json.loads(answer.split(b"\r\n\r\n", 1)[1])["tokens"]) > 100_000, True)

    def test_older_versions_and_plain_text_are_refused(self):
        with self.assertRaises(ssl.SSLError):
            self.connect(maximum_version=ssl.TLSVersion.TLSv1_2)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                self.assertNotIn(b"HTTP/1.1 200", connection.makefile("rb").read())
        with self.connect() as connection:
            self.assertIn(b'"tales"', self.ask(connection, "/v1/completions", {**GREEDY, "max_tokens": 1}))


class Ends(unittest.TestCase):
    def test_a_stream_that_runs_ends_whole_after_sigterm(self):
        with Server(program, "--threads", "1") as server:
            stream = server.open_stream("/v1/completions", {**GREEDY, "max_tokens": 200, "ignore_eos": True})
            received = stream.recv(64)
            server.process.send_signal(signal.SIGTERM)
            while piece := stream.recv(65536):
                received += piece
            stream.close()
            self.assertIn(b"data: [DONE]", received)
            self.assertEqual(server.wait(), 0)

    def test_what_cannot_be_served_is_said_before_a_model_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = Path(folder) / "keys"
            keys.write_text("key\n")
            keys.chmod(0o644)
            done = program.run("serve", "--api-key-file", keys, "no-such-model")
            self.assertEqual(done.returncode, 2)
            self.assertIn("chmod 600", done.stderr)
            certificate = CERTIFICATES / "localhost_certificate.pem"
            done = program.run("serve", "--certificate", certificate, "--private-key", certificate, "no-such-model")
            self.assertEqual(done.returncode, 2)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = program.run("serve", "no-such-model", "--port", taken.getsockname()[1])
            self.assertEqual(done.returncode, 2)
        self.assertEqual(program.run("serve", "--host", "nowhere.example").returncode, 2)
        self.assertEqual(program.run("serve", "--alias", "a", "--alias", "b").returncode, 2)
        self.assertEqual(program.run("serve", "--body", "0", "no-such-model").returncode, 2)
        self.assertEqual(program.run("serve", "no-such-model", "--port", "0").returncode, 1)

    def test_a_dry_run_says_what_would_be_served(self):
        done = program.run("serve", "--dry-run", "--json", "--port", "0", "--cache-memory", "1M")
        self.assertEqual(done.returncode, 0, done.stderr)
        model = json.loads(done.stdout)["models"][0]
        self.assertEqual(model["id"], "tales")
        self.assertLessEqual(model["cache_bytes"], 1 << 20)

    def test_whom_others_can_reach_is_warned(self):
        done = program.run("serve", "--dry-run", "--host", "0.0.0.0", "--port", "0")
        self.assertIn("--api-key-file", done.stderr)


if __name__ == "__main__":
    program = Program(sys.argv[1])
    goldens = Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
