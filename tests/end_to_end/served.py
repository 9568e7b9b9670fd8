"""A server under test: `ingot serve` on a free port of loopback, and how tests ask one, wherever it runs."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from program import Program

LIMIT_SECONDS = 120
TEMPLATE = "\n{% for message in messages %}{{ message.content }}{% endfor %}"
OPENING = "\nOnce there was a thoughtful cook named Ralf."  # which the model goes on from at length
GREEDY = {"prompt": OPENING, "temperature": 0}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def error(self):
        return self.json()["error"]


class Client:
    """Asks whoever answers at a port, encrypted where there is a context for that."""

    def __init__(self, port, host="127.0.0.1", tls=None):
        self.port, self.host, self.tls = port, host, tls

    def connection(self, seconds=LIMIT_SECONDS):
        """One to ask over; the caller closes it."""
        if self.tls is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        return http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=self.tls)

    def ask(self, method, path, body=None, headers=None, seconds=LIMIT_SECONDS):
        connection = self.connection(seconds)
        try:
            connection.request(method, path, body, headers or {})
            found = connection.getresponse()
            return Answer(found.status, found.headers, found.read().decode())
        finally:
            connection.close()

    def post(self, path, fields, **headers):
        body = fields if isinstance(fields, (str, bytes)) else json.dumps(fields)
        return self.ask("POST", path, body, {"Content-Type": "application/json", **headers})

    def get(self, path, **headers):
        return self.ask("GET", path, None, headers)

    def stream(self, path, fields):
        """The data of a stream's events, each as it comes."""
        connection = self.connection()
        try:
            body = json.dumps({**fields, "stream": True})
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            found = connection.getresponse()
            if found.status != 200:
                raise AssertionError(f"expected a stream, found {found.status}: {found.read().decode()}")
            for line in found:
                if line.startswith(b"data: "):
                    yield line.decode().removeprefix("data: ").rstrip("\n")
        finally:
            connection.close()

    def events(self, path, fields):
        """All of them, to the stream's end."""
        return list(self.stream(path, fields))

    def open_stream(self, path, fields):
        """A connection whose stream has begun; the caller closes it."""
        body = json.dumps({**fields, "stream": True})
        connection = socket.create_connection((self.host, self.port), timeout=LIMIT_SECONDS)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return connection

    def metrics(self):
        """By name and labels, as they stand in the text."""
        found = {}
        for line in self.get("/metrics").body.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found

    def wait_for_metric(self, name, is_as_wanted):
        """Returns all figures of the moment."""
        until = time.monotonic() + LIMIT_SECONDS
        while not is_as_wanted((figures := self.metrics()).get(name)):
            if time.monotonic() > until:
                raise AssertionError(f"expected another value of {name}, found {figures.get(name)} to the end")
            time.sleep(0.01)
        return figures

    def wait_until_at_rest(self, *models):
        """Until nothing is left of whoever asked before. Returns the figures of then."""
        for model in models:
            for name in ("num_requests_running", "num_requests_waiting", "cache_pages_in_use"):
                self.wait_for_metric(f'ingot_{name}{{model_name="{model}"}}', lambda value: value == 0)
        return self.wait_for_metric("ingot_connections", lambda value: value == 1)  # who asks

    def wait_for_health(self, is_wanted):
        """The first answer that is wanted: until then nobody may listen, or somebody in the server's place."""
        until = time.monotonic() + LIMIT_SECONDS
        while True:
            found = "nobody"
            try:
                found = self.get("/health")
                if is_wanted(found):
                    return found
            except (OSError, http.client.HTTPException) as error:
                found = error
            if time.monotonic() > until:
                raise AssertionError(f"expected another answer to /health, found {found}")
            time.sleep(0.01)


class Server(Client):
    """Ends with the block it is used in; what it logged is `log` then."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen(
            [*program.command, "serve", "--port", "0", "--json", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.log = ""
        self._reader = threading.Thread(target=self._read_log)
        self._reader.start()
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self._reader.join()
            raise AssertionError(f"expected a server, found exit code {self.process.returncode}: {self.log}")
        self.report = json.loads(line)
        super().__init__(self.report["port"])

    def _read_log(self):
        for line in self.process.stderr:
            self.log += line.decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.wait()

    def wait(self, seconds=LIMIT_SECONDS):
        try:
            code = self.process.wait(timeout=seconds)
        finally:
            self.process.kill()
            self._reader.join()
            self.process.stdout.close()
            self.process.stderr.close()
        return code


class Served(unittest.TestCase):
    """One server for all tests of a class."""

    program: Program  # both by run_served_tests()
    goldens: Path
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        template = Path(cls.folder.name) / "chat.jinja"
        template.write_text(TEMPLATE)
        cls.server = Server(cls.program, "--template", template, "--threads", "1", *cls.options(Path(cls.folder.name)))
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


def run_served_tests():
    """Of the file that was started with the paths of ingot and of the goldens, and arguments of unittest."""
    Served.program = Program(sys.argv[1])
    Served.goldens = Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
