#!/usr/bin/env python3
"""Clients that leave, dawdle, never read or never ask: none of them harms another, and nothing of them is left.

usage: rude_clients_check.py PATH_OF_INGOT [--idle 2000] [--leaving 2000] [unittest arguments]
"""

import argparse
import os
import random
import resource
import selectors
import socket
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "end_to_end"))
from program import Program  # noqa: E402
from served import Server  # noqa: E402

OPENING = "\nOnce there was a thoughtful cook named Ralf."
LONG = {"prompt": OPENING, "temperature": 0, "max_tokens": 200, "ignore_eos": True}

program: Program
idle_count: int
leaving_count: int


def status_number(process, name):
    """Of /proc/PID/status, in KiB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise AssertionError(f"expected {name} in /proc/{process}/status")


def processor_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class RudeClients(unittest.TestCase):
    def setUp(self):
        self.server = Server(program, "--threads", "1", "--log", "none", "--queue", "100000")
        self.addCleanup(self.server.__exit__)
        self.process = self.server.process.pid
        self.ask_once()  # what is made once is made

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=60)

    def ask_once(self):
        answer = self.server.post("/v1/completions", {**LONG, "max_tokens": 8})
        self.assertEqual(answer.status, 200, answer.body)

    def assert_nothing_is_left(self, descriptors):
        self.server.wait_until_at_rest("tales")
        # Whoever asked for the figures has left, and the server may still have to see it.
        until = time.monotonic() + 10
        while (found := len(os.listdir(f"/proc/{self.process}/fd"))) > descriptors and time.monotonic() < until:
            time.sleep(0.01)
        self.assertLessEqual(found, descriptors)

    def test_who_leaves_at_any_moment_leaves_nothing(self):
        descriptors = len(os.listdir(f"/proc/{self.process}/fd"))
        choices = random.Random(7)
        under_way = []
        for number in range(leaving_count):
            fields = {**LONG, "prompt": OPENING * choices.randint(1, 3), "max_tokens": choices.randint(1, 150)}
            under_way.append(self.server.open_stream("/v1/completions", fields))
            if len(under_way) < 32:
                continue
            leaver = under_way.pop(choices.randrange(len(under_way)))
            if choices.random() < 0.5:
                leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
            leaver.close()
        for leaver in under_way:
            leaver.close()
        self.assert_nothing_is_left(descriptors)
        before = status_number(self.process, "VmRSS")
        self.ask_once()
        print(f"{leaving_count} left; resident {before >> 10} MiB")

    def test_idle_connections_cost_little(self):
        before = status_number(self.process, "VmRSS")
        idle = [self.connect() for _ in range(idle_count)]
        self.server.wait_for_metric("ingot_connections", lambda value: value == idle_count + 1)
        grown = status_number(self.process, "VmRSS") - before
        begin, seconds = processor_seconds(self.process), 4
        time.sleep(seconds)
        share = (processor_seconds(self.process) - begin) / seconds
        print(f"{idle_count} idle connections: {grown / 1024:.1f} MiB more, {1024 * grown / idle_count:.0f} bytes each, "
              f"{100 * share:.2f} % of a processor")  # fmt: skip
        self.assertLess(1024 * grown / idle_count, 32 * 2**20 / 10_000)
        self.ask_once()
        for connection in idle:
            connection.close()

    def test_heads_that_never_end_and_streams_that_nobody_reads_harm_nobody(self):
        slow = [self.connect() for _ in range(500)]
        for connection in slow:
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        unread = [self.server.open_stream("/v1/completions", LONG) for _ in range(200)]
        waits = []
        for _ in range(20):
            begin = time.monotonic()
            self.assertEqual(self.server.get("/health").status, 200)
            waits.append(time.monotonic() - begin)
            for connection in slow:
                connection.sendall(b"x")
        self.ask_once()
        print(f"/health beside them: longest of 20 {1000 * max(waits):.1f} ms")
        for connection in slow + unread:
            connection.close()

    def test_many_bytes_at_once_are_answered_in_order(self):
        with self.connect() as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
            selector = selectors.DefaultSelector()
            selector.register(connection, selectors.EVENT_READ)
            received = b""
            while received.count(b'{"status":"ok"}') < 500:
                self.assertTrue(selector.select(60), "expected 500 answers")
                received += connection.recv(1 << 16)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--idle", type=int, default=2000)
    parser.add_argument("--leaving", type=int, default=2000)
    options, rest = parser.parse_known_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    program, idle_count, leaving_count = Program(options.program), options.idle, options.leaving
    unittest.main(argv=[sys.argv[0], *rest])
