#!/usr/bin/env python3
"""Runs `ingot serve` with its options: keys, limits, several models, encryption; how it begins and ends.

usage: serve_options_test.py PATH_OF_INGOT PATH_OF_GOLDENS [unittest arguments]
"""

import json
import shutil
import signal
import socket
import ssl
import tempfile
import unittest
from pathlib import Path

from embedder import make_embedder
from served import GREEDY, Served, Server, run_served_tests

CERTIFICATES = Path(__file__).resolve().parent.parent / "server"


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
        embedder = make_embedder(cls.goldens, folder / "bert")
        sizes = ("--context", "64", "--unix", folder / "socket")
        return ("built-in:tales", embedder, "--embeddings", "built-in:tales", "--alias", "talker", *sizes)

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

    def test_a_model_that_predicts_tokens_gives_the_vectors_of_the_command(self):
        text = "Once there was a thoughtful cook"
        answer = self.server.post("/v1/embeddings", {"model": "tales", "input": [text, "a fox"]})
        self.assertEqual(answer.status, 200, answer.body)
        found = answer.json()["data"][0]["embedding"]
        printed = self.program.run("embed", "-p", text, "--json", "--cache", "f16").stdout
        for value, expected in zip(found, json.loads(printed)["embeddings"][0]["embedding"], strict=True):
            self.assertAlmostEqual(value, expected, places=4)
        self.assert_refused(self.server.post("/v1/embeddings", {"model": "tales", "input": [[5] * 65]}), 400, "65", "64")
        self.assert_refused(self.server.post("/v1/embeddings", {"model": "talker", "input": text}), 400, "--embeddings")
        self.assert_refused(self.server.post("/v1/completions", {**GREEDY, "model": "tales"}), 400, "embeddings")

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
            self.assertTrue(connection.makefile("rb").read().startswith(b"HTTP/1.1 400 "))
        with self.connect() as connection:
            self.assertIn(b'"tales"', self.ask(connection, "/v1/completions", {**GREEDY, "max_tokens": 1}))


class Ends(unittest.TestCase):
    def test_a_stream_that_runs_ends_whole_after_sigterm(self):
        with Server(Served.program, "--threads", "1") as server:
            stream = server.open_stream("/v1/completions", {**GREEDY, "max_tokens": 200, "ignore_eos": True})
            received = stream.recv(64)
            server.process.send_signal(signal.SIGTERM)
            while piece := stream.recv(65536):
                received += piece
            stream.close()
            self.assertIn(b"data: [DONE]", received)
            self.assertEqual(server.wait(), 0)
        self.assertIn("ends: waits up to 30 s (--drain) for 1 request(s) under way", server.log)
        self.assertRegex(server.log, r"ends: waited \d+\.\d\d s, all requests have ended")

    def test_a_stream_that_does_not_end_in_time_is_cancelled_and_that_is_said(self):
        with Server(Served.program, "--threads", "1", "--drain", "0", "--log", "json") as server:
            stream = server.open_stream("/v1/completions", {**GREEDY, "max_tokens": 200, "ignore_eos": True})
            stream.recv(64)
            server.process.send_signal(signal.SIGTERM)
            while stream.recv(65536):
                pass
            stream.close()
            self.assertEqual(server.wait(), 0)
        self.assertRegex(server.log, r'"note":"ends: waited \d+\.\d\d s, 1 request\(s\) cancelled"')

    def test_a_context_beyond_the_models_is_warned_of(self):
        done = Served.program.run("serve", "--dry-run", "--port", "0", "--context", "512")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("expected a context of at most the 256 tokens that the model was made for, found 512", done.stderr)
        self.assertNotIn("was made for", Served.program.run("serve", "--dry-run", "--port", "0", "--context", "256").stderr)

    def test_what_cannot_be_served_is_said_before_a_model_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = Path(folder) / "keys"
            keys.write_text("key\n")
            keys.chmod(0o644)
            done = Served.program.run("serve", "--api-key-file", keys, "no-such-model")
            self.assertEqual(done.returncode, 2)
            self.assertIn("chmod 600", done.stderr)
            certificate = CERTIFICATES / "localhost_certificate.pem"
            done = Served.program.run("serve", "--certificate", certificate, "--private-key", certificate, "no-such-model")
            self.assertEqual(done.returncode, 2)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = Served.program.run("serve", "no-such-model", "--port", taken.getsockname()[1])
            self.assertEqual(done.returncode, 2)
        self.assertEqual(Served.program.run("serve", "--host", "nowhere.example").returncode, 2)
        self.assertEqual(Served.program.run("serve", "--alias", "a", "--alias", "b").returncode, 2)
        for option, value in (("--body", "0"), ("--alias", ""), ("--seed", "-1"), ("--seed", str(1 << 64))):
            self.assertEqual(Served.program.run("serve", option, value, "no-such-model").returncode, 2, option)
        with tempfile.NamedTemporaryFile("w", suffix=".jinja") as broken:
            broken.write("{% if")
            broken.flush()
            done = Served.program.run("serve", "--template", broken.name, "no-such-model")
            self.assertEqual(done.returncode, 2)
            self.assertIn("line 1", done.stderr)
        self.assertEqual(Served.program.run("serve", "no-such-model", "--port", "0").returncode, 1)

    def test_a_cache_that_is_smaller_than_the_context_is_the_context(self):
        done = Served.program.run("serve", "--dry-run", "--json", "--port", "0", "--cache-memory", "300K", "--sequences", "2")
        model = json.loads(done.stdout)["models"][0]
        self.assertEqual(model["context"], model["cache_pages"] * model["page_tokens"])

    def test_a_dry_run_says_what_would_be_served(self):
        done = Served.program.run("serve", "--dry-run", "--json", "--port", "0", "--cache-memory", "1M")
        self.assertEqual(done.returncode, 0, done.stderr)
        model = json.loads(done.stdout)["models"][0]
        self.assertEqual(model["id"], "tales")
        self.assertLessEqual(model["cache_bytes"], 1 << 20)

    def test_whom_others_can_reach_is_warned(self):
        done = Served.program.run("serve", "--dry-run", "--host", "0.0.0.0", "--port", "0")
        self.assertIn("--api-key-file", done.stderr)

    def test_an_empty_name_is_not_the_wish_for_no_file(self):
        for command in (["serve", "--dry-run"], ["cast", "--serve", "--dry-run"]):
            for words in (["--api-key-file", ""], ["--certificate", "", "--private-key", ""]):
                with self.subTest(command=command, words=words):
                    done = Served.program.run(*command, *words)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"{words[0]}: expected the name of a file, found none", done.stderr)


if __name__ == "__main__":
    run_served_tests()
