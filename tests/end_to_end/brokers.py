"""A broker that runs, and what its clients are asked for: what tests of accelerators share."""

import http.client
import json
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from scrapes import Scrape

LIMIT_SECONDS = 60
program = None  # the one under test: main programs set it


class Broker:
    """The broker, which tells of its clients a line each."""

    def __init__(self, path, *options):
        self.path = str(path)
        self.process = subprocess.Popen(
            [program.path, "accelerator", "--socket", self.path, "--threads", "2", "--json", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.listening = self.told()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def told(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"expected a line of the broker, found its end: {self.process.stderr.read()!r}")
        return json.loads(line)

    def ask(self, method="GET", path="/metrics", **headers) -> http.client.HTTPResponse:
        """Of a broker with metrics; the answer was read whole, and stands in .text."""
        connection = http.client.HTTPConnection(self.listening["metrics"], timeout=LIMIT_SECONDS)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            answer.text = answer.read().decode()
            return answer
        finally:
            connection.close()

    def scrape(self) -> Scrape:
        answer = self.ask()
        if answer.status != 200:
            raise AssertionError(f"expected metrics, found {answer.status}: {answer.text}")
        return Scrape(answer.text)

    def visitor(self, sends: bytes) -> socket.socket:
        """A connection to its metrics, over which something was sent."""
        host, port = self.listening["metrics"].rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=LIMIT_SECONDS)
        connection.sendall(sends)
        return connection

    def end(self, by=signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait(timeout=LIMIT_SECONDS)


def verify(path, *words):
    return program.run("verify", *words, "--device", f"accelerator:{path}", "--seed", "3")


class WithPath(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "accelerator"

    def start_verify(self):
        """A client that has much to do, and has begun."""
        client = subprocess.Popen(
            [program.path, "verify", "linear", "--device", f"accelerator:{self.path}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(client.kill)
        return client
