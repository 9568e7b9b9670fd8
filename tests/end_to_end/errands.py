"""What customers of a server do, well-behaved and not: drawn from a seed; they say what should not have been."""

import contextlib
import json
import random
import socket
import struct
from collections import deque
from dataclasses import dataclass, field

from served import LIMIT_SECONDS, Client

PROMPTS = ["\nOnce there was a thoughtful cook named Ralf.", "\nOnce there was", "\nOne clear day a", "\n"]
LENGTHS = [1, 4, 12, 40]
MOST_WORDS = 20_000  # of a large body
IDLE_CONNECTIONS = 24  # of one customer, at most
TCP_REPAIR = 19  # of linux/tcp.h, where a network of one's own allows it
BAD_REQUESTS = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),  # TLS to a plain port
    b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET  /  HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",  # no Host
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n",
    b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(200)) + b"\r\n",
    b"\0" * 4096,
    b"\r\n" * 2000,
]  # fmt: skip
BAD_BODIES = [b"", b"{", b"[]", b'{"prompt": 7, "x": 1}', b'{"prompt": "' + b"\xff" * 50 + b'"}', b"[" * 5000]


WAYS_TO_LEAVE = ("politely", "by a reset", "without a word")  # behind the last, the server has half of a connection


def leave(connection: socket.socket, way: str) -> None:
    if way == "by a reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if way == "without a word":
        connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    connection.close()


def read_to_end(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(4096), b""))


def wanted(prompt: str, tokens: int) -> dict:
    return {"model": "talker", "prompt": prompt, "temperature": 0, "max_tokens": tokens, "ignore_eos": True}


def expect(condition: bool, wish: str, found: object) -> None:
    if not condition:
        raise AssertionError(f"expected {wish}, found {str(found)[:300]!r}")


@dataclass
class Customer:
    """One client that comes again and again. `known` has the answers of requests by (prompt, tokens), asked alone."""

    client: Client
    known: dict[tuple[str, int], str]
    random: random.Random
    idle: deque = field(default_factory=deque)

    def errand(self) -> str:
        name = self.random.choices(list(ERRANDS), list(ERRANDS.values()))[0]
        try:
            getattr(self, name)()
        except Exception as error:  # whatever it is, it should not be
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
        return name

    def leave(self) -> None:
        while self.idle:
            self.close(*self.idle.popleft())

    def connect(self) -> socket.socket:
        return socket.create_connection((self.client.host, self.client.port), timeout=LIMIT_SECONDS)

    def close(self, connection: socket.socket, may_vanish: bool) -> None:
        leave(connection, self.random.choice(WAYS_TO_LEAVE if may_vanish else WAYS_TO_LEAVE[:2]))

    def request(self) -> tuple[dict, str]:
        prompt, tokens = self.random.choice(sorted(self.known))
        return wanted(prompt, tokens), self.known[prompt, tokens]

    # --- what customers do ---

    def whole_answer(self):
        fields, text = self.request()
        answer = self.client.post("/v1/completions", fields)
        expect(answer.status == 200, "200", f"{answer.status} {answer.body}")
        expect(answer.json()["choices"][0]["text"] == text, f"{text!r}", answer.body)

    def streamed_answer(self):
        fields, text = self.request()
        events = self.client.events("/v1/completions", fields)
        expect(events[-1:] == ["[DONE]"], "a stream with an end", events[-1:])
        found = "".join(json.loads(event)["choices"][0]["text"] for event in events[:-1])
        expect(found == text, f"{text!r}", found)

    def left_stream(self):
        """Somewhere in the midst, or before the first byte."""
        connection = self.client.open_stream("/v1/completions", wanted(self.random.choice(PROMPTS), 200))
        try:
            for _ in range(self.random.randrange(6)):
                expect(connection.recv(self.random.randrange(1, 2000)) != b"", "a stream that goes on", "its end")
        finally:
            self.close(connection, may_vanish=True)

    def kept_connection(self):
        connection = self.client.connection()
        try:
            for _ in range(self.random.randrange(2, 12)):
                path = self.random.choice(["/health", "/v1/models", "/props?model=talker", "/metrics", "/nowhere"])
                connection.request("GET", path)
                answer = connection.getresponse()
                body = answer.read()
                expect(answer.status == (404 if path == "/nowhere" else 200), f"{path} answered", body)
        finally:
            connection.close()

    def large_body(self):
        self.send_words(self.random.randrange(1, MOST_WORDS))

    def send_words(self, words: int):
        answer = self.client.post("/tokenize", {"model": "talker", "content": "tale " * words})
        expect(answer.status == 200, "200", f"{answer.status} {answer.body}")
        expect(len(answer.json()["tokens"]) >= words, f"{words} tokens or more", len(answer.json()["tokens"]))

    def body_in_chunks(self):
        content = json.dumps({"model": "talker", "content": "tale " * self.random.randrange(1, 4000)}).encode()
        size = self.random.randrange(1, 3000)
        pieces = (content[at : at + size] for at in range(0, len(content), size))
        answer = self.client.ask("POST", "/tokenize", pieces, {"Content-Type": "application/json"})
        expect(answer.status == 200, "200", f"{answer.status} {answer.body}")

    def idle_connection(self):
        """Stays open for some errands, with nothing said, or half of a request."""
        connection = self.connect()
        half = b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
        said = self.random.choice([b"", b"G", b"GET /health HT", half])
        connection.sendall(said)
        self.idle.append((connection, bool(said)))  # who said nothing has a long time, and would be waited for
        if len(self.idle) > IDLE_CONNECTIONS:
            self.close(*self.idle.popleft())

    def half_closed(self):
        """Says no more, and reads what comes: an answer to a whole request, nothing to half of one."""
        is_whole = self.random.choice([True, False])
        with self.connect() as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + (b"\r\n" if is_whole else b""))
            connection.shutdown(socket.SHUT_WR)
            found = read_to_end(connection)
        if is_whole:
            expect(found.startswith(b"HTTP/1.1 200 ") and found.endswith(b'{"status":"ok"}'), "health, to its end", found)
        else:
            expect(found == b"", "no answer to half of a request", found)

    def bad_request(self):
        found = b""
        # What is not read resets the connection, and may take the answer with it.
        with self.connect() as connection, contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(self.random.choice(BAD_REQUESTS))
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(4096):
                found += piece
        expect(found.startswith((b"HTTP/1.1 4", b"HTTP/1.1 505 ")) or not found, "a refusal", found)

    def bad_body(self):
        answer = self.client.post("/v1/completions", self.random.choice(BAD_BODIES))
        expect(answer.status == 400, "400", f"{answer.status} {answer.body}")

    def vectors(self):
        texts = ["a b c"] * self.random.randrange(1, 20)
        answer = self.client.post("/v1/embeddings", {"model": "embedder", "input": texts})
        expect(answer.status == 200, "200", f"{answer.status} {answer.body}")
        expect(len(answer.json()["data"]) == len(texts), f"{len(texts)} vectors", answer.body)

    def page(self):
        for path in ("/", "/page/page.js", "/page/page.css"):
            answer = self.client.get(path)
            expect(answer.status == 200, f"200 for {path}", f"{answer.status} {answer.body}")

    # --- what makes a server keep all that it ever keeps ---

    def unequal_texts(self, most: int, letters: int, tokens: int):
        """Up to so many, of up to so many letters each, which begin like no others."""
        alphabet = "abcdefghijklmnopqrstuvwxyz "
        lengths = [self.random.randint(1, letters) for _ in range(self.random.randint(1, most))]
        texts = ["".join(self.random.choices(alphabet, k=length)) for length in lengths]
        answer = self.client.post("/v1/completions", {**wanted("", tokens), "prompt": texts})
        expect(answer.status == 200, "200", f"{answer.status} {answer.body}")

    def unequal_vectors(self, texts: int):
        inputs = [" ".join("a" * self.random.randint(1, 3)) for _ in range(texts)]
        answer = self.client.post("/v1/embeddings", {"model": "embedder", "input": inputs})
        expect(answer.status == 200, "200", f"{answer.status} {answer.body}")


# How often each, by weight.
ERRANDS = {
    "whole_answer": 4, "streamed_answer": 6, "left_stream": 4, "kept_connection": 3, "large_body": 1,
    "body_in_chunks": 1, "idle_connection": 6, "half_closed": 2, "bad_request": 4, "bad_body": 2, "vectors": 2,
    "page": 2,
}  # fmt: skip
