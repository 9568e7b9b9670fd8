"""What tests of programs with a network share: content, a server on this machine, a booted guest."""

import functools
import hashlib
import http.server
import random
import re
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from guest import Guest
from running_machine import PublishedMachine

CHECKS = ("--option", "check-locks", "--option", "poison")
# Calls that programs try and do without, as on a Linux that was built without them.
TRIED = {"clone3", "rseq"}


@functools.cache
def content_of(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def at_once(*jobs) -> list:
    """What the jobs answer, each done by a thread of its own."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]


class Host(http.server.BaseHTTPRequestHandler):
    """A server on this machine: content by its size, and the sum of what it is sent."""

    protocol_version = "HTTP/1.1"

    def answer(self, body: bytes):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(content_of(int(self.path.strip("/"))))

    def do_POST(self):
        self.answer(hashlib.sha256(self.rfile.read(int(self.headers["Content-Length"]))).hexdigest().encode() + b"\n")

    do_PUT = do_POST

    def log_message(self, *_):
        pass


class Networked(unittest.TestCase):
    """A test of a program of Debian's, from `root`, that is cast with a network."""

    ingot = kernel = ""
    root = Path()

    def setUp(self):
        self.guest = Guest(self.ingot, self.kernel)
        self.addCleanup(self.guest.close)

    def cast(self, program: str, *words: str, files: dict[str, bytes] | None = None):
        for number, (path, content) in enumerate((files or {}).items()):
            source = Path(self.guest.path(f"file{number}"))
            source.write_bytes(content)
            words += ("--file", f"{source}={path}")
        words += ("--root", str(self.root), "--grant", "network", "--tmpfs", "32M")
        done = self.guest.cast("--program", str(self.root / program), *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def boot(self, port: int, is_ready, *options: str, arguments: tuple = ()) -> PublishedMachine:
        image = self.guest.path("image")
        return PublishedMachine(self.ingot, image, [port], is_ready, *CHECKS, *options, arguments=arguments)

    def check_log(self, log: str):
        self.assertNotIn("panic", log)
        unanswered = set(re.findall(r"system call: (\w+) \(\d+\) is not answered", log)) - TRIED
        self.assertFalse(unanswered, log)

    def end(self, machine: PublishedMachine, statuses: tuple = (0,)):
        """By the power button. `statuses`: what the program exits with on Linux after a SIGTERM."""
        self.assertIn(machine.end(), statuses, machine.text())
        self.check_log(machine.text())

    def serve_here(self) -> int:
        """The port of a server on this machine, which the guest knows as 10.0.2.2."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port
