"""What a booted server's kernel executes for the first answer, for a request, and for a token of a stream."""

import json
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from guest_instructions import Blocks, Engine, parts_of, read_report, sum_of  # noqa: E402
from guests import Booted, Guest  # noqa: E402

# Time follows the instructions, as in bench/os_vs_linux; but where a guest waits for the network it is this machine's.
COUNTING = ["-icount", "shift=0,sleep=on", "-rtc", "base=2024-01-01,clock=vm", "-seed", "1"]
LIMIT_SECONDS = 900
SETTLING_SECONDS = 0.5  # until what follows an answer is over: acknowledgments, the connection's end
IDLE_SECONDS = 3
SHORT = 8  # tokens


@dataclass
class Load:
    port: int  # of this machine, which leads to the guest's
    requests: int  # 0: the first answer alone
    tokens: int


@dataclass
class Counted:
    """Instructions: `operating system` and `ring 3` up to the first answer; the kernel's for one of the others."""

    image_bytes: int
    memory_bytes: int
    first: dict[str, int]
    request: float = 0
    token: float = 0
    idle_second: float = 0
    request_blocks: tuple[Blocks, Blocks] | None = None  # after, before
    token_blocks: tuple[Blocks, Blocks, Blocks] | None = None


class Marks:
    """The counter in the emulator, which reports when it is asked to."""

    def __init__(self, folder: Path, guest: Guest):
        self.report = folder / f"{guest.name}.report"
        self.path = folder / f"{guest.name}.marks"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(1)
        self.connection = None

    def words(self, counter: Path, engine: Engine) -> list[str]:
        begin = engine.marker(engine.entry)
        return ["-plugin", f"{counter},report={self.report},begin={begin},marks={self.path}", *COUNTING]

    def set(self, name: str) -> None:
        if self.connection is None:
            self.connection, _ = self.listener.accept()
        self.connection.sendall(f"{name}\n".encode())
        if self.connection.recv(256) != f"{name}\n".encode():
            sys.exit(f"os_network_vs_linux: expected the counter to report {name}, found its end")

    def close(self) -> None:
        self.listener.close()
        if self.connection is not None:
            self.connection.close()


def ask(port: int, method: str, path: str, body: str = "") -> tuple[socket.socket, bytes]:
    """One connection, one answer. The caller closes."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_SECONDS)
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    connection.sendall(f"{head}\r\n{body}".encode())
    answer = b""
    while not is_whole(answer):
        piece = connection.recv(65536)
        if not piece:
            sys.exit(f"os_network_vs_linux: expected an answer to {method} {path}, found {answer!r} and the end")
        answer += piece
    if not answer.startswith(b"HTTP/1.1 200"):
        sys.exit(f"os_network_vs_linux: expected an answer of 200 to {method} {path}, found {answer!r}")
    return connection, answer


def is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return body.endswith(b"0\r\n\r\n")  # it comes in chunks


def ask_health(port: int) -> None:
    connection, _ = ask(port, "GET", "/health")
    connection.close()


def stream(port: int, tokens: int) -> None:
    wanted = {"prompt": "Once there was", "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "stream": True}
    connection, answer = ask(port, "POST", "/v1/completions", json.dumps(wanted))
    connection.close()
    events = answer.count(b"data: ")
    if events < tokens:
        sys.exit(f"os_network_vs_linux: expected {tokens} events of a stream, found {events}")


def count(guest: Guest, engine: Engine, counter: Path, load: Load, folder: Path) -> Counted:
    marks = Marks(folder, guest)

    def settle(name: str) -> None:
        time.sleep(SETTLING_SECONDS)
        marks.set(name)

    try:
        with Booted(guest, *marks.words(counter, engine)) as booted:
            booted.wait_for(b"listening on", LIMIT_SECONDS)
            connection, _ = ask(load.port, "GET", "/health")
            marks.set("first")
            memory = booted.touched_bytes()
            connection.close()
            if load.requests > 0:
                asking_seconds = count_more(load, settle)
    finally:
        marks.close()
    phases = read_report(marks.report)
    counted = Counted(guest.image_bytes, memory, parts_of(phases["boot"], phases["first"]))
    if load.requests == 0:
        return counted
    kernel = {name: sum_of(blocks, True) for name, blocks in phases.items()}
    counted.idle_second = (kernel["idle"] - kernel["asked"]) / IDLE_SECONDS
    spent = kernel["asked"] - kernel["warm"] - asking_seconds * counted.idle_second
    counted.request = spent / load.requests
    counted.token = (kernel["long"] - 2 * kernel["short"] + kernel["streamed"]) / load.tokens
    counted.request_blocks = phases["asked"], phases["warm"]
    counted.token_blocks = phases["long"], phases["short"], phases["streamed"]
    return counted


def count_more(load: Load, settle) -> float:
    """How long the requests took: a guest that waits for the next one does what it does in idle seconds."""
    for _ in range(10):
        ask_health(load.port)
    settle("warm")
    begin = time.monotonic()
    for _ in range(load.requests):
        ask_health(load.port)
    settle("asked")
    asking_seconds = time.monotonic() - begin
    time.sleep(IDLE_SECONDS - SETTLING_SECONDS)
    settle("idle")
    stream(load.port, SHORT + load.tokens)  # once before: memory is touched, the prompt is remembered
    settle("streamed")
    stream(load.port, SHORT)
    settle("short")
    stream(load.port, SHORT + load.tokens)
    settle("long")
    return asking_seconds
