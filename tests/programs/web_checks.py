"""What servers of files are asked."""

import socket
import struct

from networked import at_once, content_of
from protocol_clients import HttpClient
from running_machine import PublishedMachine


class Web:
    """Beside a Networked, whose server has FILES under its port 80."""

    SIZES = (1, 1000, 65_537, 1 << 20, 4 << 20)
    FILES = {f"/srv/{size}": content_of(size) for size in SIZES}

    @staticmethod
    def is_ready(machine: PublishedMachine) -> bool:
        with HttpClient(machine.ports[80]) as client:
            return client.ask("/1")[0] == 200

    def get(self, client: HttpClient, size: int):
        status, _, body = client.ask(f"/{size}")
        self.assertEqual(status, 200)
        self.assertEqual(body, content_of(size))

    def check_requests(self, port: int):
        """Kept connections, 206 requests over four at once, and four large files at once."""
        with HttpClient(port) as client:
            for size in self.SIZES:
                self.get(client, size)
            status, headers, body = client.ask("/1000", "HEAD")
            self.assertEqual((status, headers["Content-Length"], body), (200, "1000", b""))
            self.assertEqual(client.ask("/none")[0], 404)

        def ask_often():
            with HttpClient(port) as client:
                for number in range(50):
                    self.get(client, self.SIZES[number % 3])

        def ask_for_much():
            with HttpClient(port) as client:
                self.get(client, 4 << 20)

        at_once(*[ask_often] * 4)
        at_once(*[ask_for_much] * 4)

    def check_ranges(self, port: int):
        whole = content_of(4 << 20)
        with HttpClient(port) as client:
            for text, begin, end in (("0-0", 0, 1), ("1000001-3000000", 1_000_001, 3_000_001), ("-5", -5, len(whole))):
                status, headers, body = client.ask(f"/{len(whole)}", Range=f"bytes={text}")
                self.assertEqual(status, 206)
                self.assertRegex(headers["Content-Range"], rf"^bytes \d+-\d+/{len(whole)}$")
                self.assertEqual(body, whole[begin:end])
            self.assertEqual(client.ask("/1000", Range="bytes=5000-")[0], 416)

    def check_rude_clients(self, port: int):
        """One that asks for all at once, some that go away in the midst: the others do not notice."""
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(b"GET /1000 HTTP/1.1\r\nHost: guest\r\n\r\n" * 20 + b"GET /1 HTTP/1.0\r\n\r\n")
            answers = b"".join(iter(lambda: client.recv(65536), b""))
        self.assertEqual(answers.count(content_of(1000)), 20)
        self.assertTrue(answers.endswith(content_of(1)))
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                client.sendall(b"GET /4194304 HTTP/1.1\r\nHost: guest\r\n\r\n")
                client.recv(1000)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with HttpClient(port) as client:
            self.get(client, 65_537)
