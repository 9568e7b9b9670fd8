#!/usr/bin/env python3
"""`ingot serve` as a process: signals, a standard error that nobody reads, and options that it refuses.

usage: serve_process_test.py PATH_OF_INGOT [unittest arguments]
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from program import LIMIT_SECONDS, Program
from served import Client, Server

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from running_machine import free_port  # noqa: E402

program: Program


@contextlib.contextmanager
def full_pipe():
    """The end of a pipe that nobody reads and that takes nothing more."""
    reading, writing = os.pipe()
    flags = fcntl.fcntl(writing, fcntl.F_GETFL)
    fcntl.fcntl(writing, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x")
    fcntl.fcntl(writing, fcntl.F_SETFL, flags)
    try:
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


@contextlib.contextmanager
def started(error, *arguments):
    """A server that is gone behind it."""
    process = subprocess.Popen(
        [program.path, "serve", "--threads", "1", "--connections", "100", *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Signals(unittest.TestCase):
    def test_a_signal_while_a_model_is_loaded_ends_the_process(self):
        # It says what it has loaded, waits for somebody to hear it, and so has opened nothing yet.
        with full_pipe() as error:
            for sent in (signal.SIGTERM, signal.SIGINT):
                port = free_port()
                with started(error, "--port", port) as process:
                    self.assertEqual(Client(port).wait_for_health(lambda _: True).status, 503)
                    process.send_signal(sent)
                    self.assertEqual(process.wait(timeout=LIMIT_SECONDS), 128 + sent)
                    self.assertEqual(process.stdout.read(), b"")


class Log(unittest.TestCase):
    def test_nobody_waits_for_a_standard_error_that_nobody_reads(self):
        with full_pipe() as error:
            with started(error, "--port", "0", "--json") as process:
                port = json.loads(process.stdout.readline())["port"]
                # More than any buffer on the way holds.
                asked = 1500
                path = "/nowhere" + "x" * 1000
                with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_SECONDS) as connection:
                    answers = connection.makefile("rb")
                    for _ in range(asked):
                        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                        self.assertTrue(answers.readline().startswith(b"HTTP/1.1 404 "))
                        length = 0
                        while (line := answers.readline()) != b"\r\n":
                            if line.startswith(b"Content-Length: "):
                                length = int(line.split()[1])
                        answers.read(length)
                    connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    metrics = answers.read().decode()
                lost = float(metrics.split("\ningot_log_lines_lost_total ")[1].split("\n")[0])
                self.assertGreater(lost, 0)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=LIMIT_SECONDS), 0)

    def test_a_standard_error_that_is_closed_ends_nothing(self):
        reading, writing = os.pipe()
        with started(writing, "--port", "0", "--json") as process:
            os.close(writing)
            port = json.loads(process.stdout.readline())["port"]
            os.close(reading)
            for _ in range(3):
                self.assertEqual(Client(port).wait_for_health(lambda answer: answer.status == 200).status, 200)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=LIMIT_SECONDS), 0)

    def test_polls_that_go_well_leave_no_line(self):
        with Server(program, "--threads", "1") as server:
            for path in ("/health", "/metrics", "/v1/models", "/health?x=1"):
                server.get(path)
        self.assertNotRegex(server.log, r"GET /(health|metrics) 200")
        self.assertIn(" GET /v1/models 200 ", server.log)
        self.assertIn(" GET /health 400 ", server.log)

    def test_no_target_looks_like_another_column(self):
        with Server(program, "--threads", "1") as server:
            server.get("/x%20200%0a%ff")
        self.assertIn(" GET /x%20200%0A%FF 404 ", server.log)


class Strangers(unittest.TestCase):
    def test_names_that_anybody_can_let_lead_here_are_refused_wherever_it_listens(self):
        with Server(program, "--threads", "1", "--host", "0.0.0.0", "--allow-host", "ingot.example") as server:
            evil = {"Host": f"evil.example:{server.port}", "Origin": f"http://evil.example:{server.port}"}
            self.assertEqual(server.get("/v1/models", **evil).status, 403)
            for host in ("ingot.example", "localhost", "10.1.2.3:8080", "[fe80::1]"):
                self.assertEqual(server.get("/v1/models", Host=host).status, 200, host)
            self.assertEqual(server.get("/explain", **{"Sec-Fetch-Site": "cross-site"}).status, 403)

    def test_an_allowed_page_may_send_what_it_asks_for_and_read_refusals(self):
        with Server(program, "--threads", "1", "--cors", "localhost") as server:
            page = {"Origin": "http://localhost:3000"}
            asked = server.ask("OPTIONS", "/v1/models", None, {**page, "Access-Control-Request-Headers": "x-api-key"})
            self.assertEqual(asked.status, 200)
            self.assertEqual(asked.headers["Access-Control-Allow-Headers"], "x-api-key")
            refused = server.ask("POST", "/v1/completions", None, {**page, "Content-Length": str(1 << 40)})
            self.assertEqual(refused.status, 413)
            self.assertTrue(refused.headers["Access-Control-Allow-Origin"])

    def test_options_that_no_browser_would_match_are_refused(self):
        for option in (("--cors", "https://x/"), ("--cors", "example.org"), ("--cors", "https://x:443"), ("--allow-host", "x:80")):
            done = program.run("serve", "--dry-run", "--port", "0", *option)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(option[1], done.stderr)


if __name__ == "__main__":
    program = Program(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
