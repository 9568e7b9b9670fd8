#!/usr/bin/env python3
"""curl, wrk and h11 as the server's peers: what HTTP lets a client do, done by programs that know it.

usage: http_test.py PATH_OF_INGOT [unittest arguments]; needs the program curl; wrk and the package h11 where they are there
"""

import json
import re
import shutil
import socket
import subprocess
import unittest

from peers import KEY, OPENING, Peer, main

BODY = json.dumps({"model": "talker", "prompt": "\n" + OPENING, "temperature": 0, "max_tokens": 8})
BEARER = f"Authorization: Bearer {KEY}"


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"SKIPPED: expected the program {program}, found none")


@needs("curl")
class Curl(Peer):
    def curl(self, *arguments, text_in=None):
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "60", "-H", BEARER, *arguments],
            input=text_in, capture_output=True, timeout=120,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def complete(self, *arguments, text_in=None):
        return self.curl(self.url + "/completions", "-H", "Content-Type: application/json", *arguments, text_in=text_in)

    def test_one_connection_serves_many_requests(self):
        _, said = self.curl("-v", *[self.base + "/health"] * 5)
        self.assertEqual(len(re.findall("Re-using existing connection", said)), 4, said)

    def test_a_head_alone_is_told_and_the_connection_kept(self):
        shown, _ = self.curl("-I", self.base + "/health", self.base + "/health")
        self.assertEqual(shown.count("HTTP/1.1 200 "), 2)
        length = len(self.curl(self.base + "/health")[0])
        self.assertIn(f"content-length: {length}", shown.lower())

    def test_a_body_in_chunks(self):
        whole = json.loads(self.complete("-d", BODY)[0])
        chunked, said = self.complete(
            "-v", "-H", "Transfer-Encoding: chunked", "--data-binary", "@-", text_in=BODY.encode()
        )
        self.assertIn("Transfer-Encoding: chunked", said)
        self.assertEqual(json.loads(chunked)["choices"], whole["choices"])

    def test_a_body_that_waits_to_be_asked_for(self):
        answer, said = self.complete("-v", "-H", "Expect: 100-continue", "-d", BODY)
        self.assertIn("100 Continue", said)
        self.assertTrue(json.loads(answer)["choices"])

    def test_a_body_that_is_refused_before_it_is_sent(self):
        # curl waits with large ones by itself.
        shown, said = self.complete("-v", "-o", "/dev/null", "-w", "%{http_code} %{size_upload}",
                                    "-H", "Expect: 100-continue", "--data-binary", "@-", text_in=b"x" * (17 << 20))  # fmt: skip
        self.assertEqual(shown, "413 0", said)

    def test_other_things_than_posts(self):
        for method, path, status in (("OPTIONS", "/v1/completions", "200"), ("DELETE", "/v1/models", "405"),
                                     ("GET", "/v1/completions", "405"), ("POST", "/v1/nothing", "404"),
                                     ("GET", "/nothing", "404")):  # fmt: skip
            with self.subTest(method=method, path=path):
                shown, _ = self.curl("-X", method, "-o", "/dev/null", "-w", "%{http_code}", self.base + path)
                self.assertEqual(shown, status)

    def test_a_stream_arrives_as_it_is_made(self):
        shown, _ = self.complete("-N", "-i", "-d", BODY.replace("{", '{"stream": true, ', 1))
        self.assertIn("content-type: text/event-stream", shown.lower())
        self.assertTrue(shown.rstrip().endswith("data: [DONE]"))

    def test_http_1_0_and_connections_that_close(self):
        shown, _ = self.curl("-0", "-i", self.base + "/health")
        self.assertIn(" 200 ", shown.splitlines()[0])
        shown, _ = self.curl("-i", "-H", "Connection: close", self.base + "/health")
        self.assertIn("connection: close", shown.lower())
        streamed, _ = self.complete("-0", "-d", BODY.replace("{", '{"stream": true, ', 1))
        self.assertTrue(streamed.rstrip().endswith("data: [DONE]"))

    def test_curls_that_leave(self):
        long = BODY.replace('"max_tokens": 8', '"max_tokens": 200, "ignore_eos": true, "n": 16, "stream": true')
        subprocess.run(["curl", "-s", "--noproxy", "*", "--max-time", "0.05", "-H", BEARER, "-H",
                        "Content-Type: application/json", "-d", long, self.url + "/completions"],
                       capture_output=True, timeout=60)  # fmt: skip
        self.wait_until_nothing_runs()


@needs("wrk")
class Wrk(Peer):
    """For a second each: no figures, only that nothing goes wrong."""

    def wrk(self, path, *arguments, script=None):
        options = ["-t1", "-d1s", "--timeout", "30s", "-H", BEARER, *arguments]
        if script:
            (self.folder / "wrk.lua").write_text(script)
            options += ["-s", str(self.folder / "wrk.lua")]
        done = subprocess.run(["wrk", *options, self.base + path], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Socket errors", done.stdout)
        self.assertNotIn("Non-2xx", done.stdout)
        answered = int(re.search(r"(\d+) requests in", done.stdout)[1])
        self.assertGreater(answered, 0)

    def test_many_connections(self):
        self.wrk("/health", "-c64")

    def test_pipelined_requests(self):
        self.wrk("/health", "-c8", script="""
            local together = {}
            function init(arguments)
              for place = 1, 16 do together[place] = wrk.format("GET", "/health") end
              together = table.concat(together)
            end
            function request() return together end
        """)  # fmt: skip

    def test_many_completions(self):
        self.wrk("/v1/completions", "-c16", script=f"""
            wrk.method = "POST"
            wrk.body = {json.dumps(BODY)}
            wrk.headers["Content-Type"] = "application/json"
        """)  # fmt: skip
        self.wait_until_nothing_runs()


class H11(Peer):
    """Judged by a peer that refuses what is no HTTP/1.1."""

    def setUp(self):
        try:
            import h11
        except ImportError as error:
            raise unittest.SkipTest(f"SKIPPED: expected the Python package h11, found: {error}") from error
        self.h11 = h11
        self.socket = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        self.addCleanup(self.socket.close)
        self.peer = h11.Connection(h11.CLIENT)

    def request(self, method, path, body=b"", headers=()):
        given = [("Host", "localhost"), ("Authorization", f"Bearer {KEY}"), *headers]
        return self.h11.Request(method=method, target=path, headers=given), body

    def send(self, request, body):
        self.socket.sendall(self.peer.send(request))
        if body:
            self.socket.sendall(self.peer.send(self.h11.Data(data=body)))
        self.socket.sendall(self.peer.send(self.h11.EndOfMessage()))

    def receive(self):
        """Answers, the informal ones too, and the body of the last."""
        found, body = [], b""
        while True:
            event = self.peer.next_event()
            if event is self.h11.NEED_DATA:
                self.peer.receive_data(self.socket.recv(65536))
            elif isinstance(event, (self.h11.Response, self.h11.InformationalResponse)):
                found.append(event)
            elif isinstance(event, self.h11.Data):
                body += event.data
            elif isinstance(event, self.h11.EndOfMessage):
                return found, body
            else:
                self.fail(f"expected an answer, found {event}")

    def ask(self, *arguments, **options):
        self.send(*self.request(*arguments, **options))
        found, body = self.receive()
        if self.peer.our_state is self.h11.DONE and self.peer.their_state is self.h11.DONE:
            self.peer.start_next_cycle()
        return found[-1], body

    def test_every_kind_of_answer_on_one_connection(self):
        posted = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]
        streamed = BODY.replace("{", '{"stream": true, ', 1).encode()
        stream_head = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
        for arguments, status in (
            (("GET", "/health"), 200), (("HEAD", "/health"), 200), (("GET", "/nothing"), 404),
            (("OPTIONS", "/v1/models"), 200), (("POST", "/v1/completions", BODY.encode(), posted), 200),
            (("POST", "/v1/completions", streamed, stream_head), 200), (("GET", "/metrics"), 200),
            (("HEAD", "/v1/models"), 200), (("GET", "/"), 200), (("GET", "/health"), 200),
        ):  # fmt: skip
            with self.subTest(arguments=arguments[:2]):
                answer, body = self.ask(*arguments)
                self.assertEqual(answer.status_code, status)
                self.assertEqual(bool(body), arguments[0] not in ("HEAD", "OPTIONS"))
                self.assertIs(self.peer.our_state, self.h11.IDLE)

    def test_a_body_that_waits_to_be_asked_for(self):
        head = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY))), ("Expect", "100-continue")]
        request, _ = self.request("POST", "/v1/completions", headers=head)
        self.socket.sendall(self.peer.send(request))
        self.assertTrue(self.peer.they_are_waiting_for_100_continue or self.peer.client_is_waiting_for_100_continue)
        while True:
            event = self.peer.next_event()
            if event is self.h11.NEED_DATA:
                self.peer.receive_data(self.socket.recv(65536))
            else:
                break
        self.assertEqual(event.status_code, 100)
        self.socket.sendall(self.peer.send(self.h11.Data(data=BODY.encode())))
        self.socket.sendall(self.peer.send(self.h11.EndOfMessage()))
        found, _ = self.receive()
        self.assertEqual(found[-1].status_code, 200)

    def test_pipelined_answers_stand_in_order(self):
        # h11 sends one request at a time, so each is written by a peer of its own, and all answers read by one each.
        sent, waiting = b"", []
        for path in ("/v1/models/talker", "/v1/completions", "/v1/models/embedder", "/health"):
            peer = self.h11.Connection(self.h11.CLIENT)
            is_post = path == "/v1/completions"
            head = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))] if is_post else []
            sent += peer.send(self.request("POST" if is_post else "GET", path, headers=head)[0])
            sent += peer.send(self.h11.Data(data=BODY.encode())) if is_post else b""
            sent += peer.send(self.h11.EndOfMessage())
            waiting.append(peer)
        self.socket.sendall(sent)
        rest, bodies = b"", []
        for self.peer in waiting:
            if rest:
                self.peer.receive_data(rest)
            found, body = self.receive()
            self.assertEqual(found[-1].status_code, 200)
            bodies.append(json.loads(body))
            rest = self.peer.trailing_data[0]
        self.assertEqual([bodies[0]["id"], bodies[1]["object"], bodies[2]["id"], bodies[3]["status"]],
                         ["talker", "text_completion", "embedder", "ok"])  # fmt: skip


if __name__ == "__main__":
    main(__doc__)
