"""Clients, without a library, of the servers that debian_network_test.py boots."""

import http.client
import socket


class HttpClient:
    """One connection, kept: a server that closes it is an error."""

    def __init__(self, port: int):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.connect()
        self.connection.auto_open = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str):
        """The answer's status, its headers and its body."""
        try:
            fields = {name.replace("_", "-"): text for name, text in headers.items()}
            self.connection.request(method, path, body, fields)
            answer = self.connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error


class LineClient:
    """A connection of lines that end with CR LF, with counted bytes among them."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def line(self) -> bytes:
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError(f"expected a line, found {line!r}")
        return line[:-2]

    def block(self, count: int) -> bytes:
        block = self.file.read(count + 2)
        if len(block) != count + 2:
            raise ConnectionError(f"expected {count + 2} bytes, found {len(block)}")
        return block[:-2]


class RedisError(str):
    """An answer that begins with `-`."""


class RedisClient(LineClient):
    """RESP 2: words out; texts, numbers and lists back."""

    def send(self, *words) -> None:
        pieces = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(pieces) + b"".join(b"$%d\r\n%s\r\n" % (len(it), it) for it in pieces))

    def receive(self):
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind in b"+:":
            return rest if kind == b"+" else int(rest)
        if kind == b"-":
            return RedisError(rest.decode())
        if int(rest) < 0:
            return None
        if kind == b"$":
            return self.block(int(rest))
        return [self.receive() for _ in range(int(rest))]

    def ask(self, *words):
        self.send(*words)
        return self.receive()


class MemcachedClient(LineClient):
    """The text protocol."""

    def ask(self, line: str, block: bytes | None = None) -> bytes:
        """The first line of the answer."""
        self.socket.sendall(line.encode() + b"\r\n" + (b"" if block is None else block + b"\r\n"))
        return self.line()

    def set(self, key: str, value: bytes) -> bytes:
        return self.ask(f"set {key} 0 0 {len(value)}", value)

    def get(self, *keys: str) -> dict[str, bytes]:
        line, found = self.ask("get " + " ".join(keys)), {}
        while line != b"END":
            _, key, _, count = line.split()
            found[key.decode()] = self.block(int(count))
            line = self.line()
        return found

    def statistics(self, kind: str = "") -> dict[str, str]:
        line, found = self.ask(f"stats {kind}".strip()), {}
        while line != b"END":
            _, name, value = line.decode().split(" ", 2)
            found[name] = value
            line = self.line()
        return found
