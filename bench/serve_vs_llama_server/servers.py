"""The two servers, started and stopped, and the load that is put on them."""

import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/programs"))
from running_machine import free_port  # noqa: E402

START_SECONDS = 300  # a server that is not healthy by then never will be
STOP_SECONDS = 40
LOAD_SECONDS = 3600


class Unmeasurable(Exception):
    """Why a row has no figure."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a server is to hold: both get the same."""

    sequences: int
    context: int  # tokens of each
    cached_sequences: int | None = None  # the cache has room for that many whole ones only; None: for all
    has_own_cache: bool = False  # ours has as much as it takes by itself


class Ingot:
    name = "ingot"

    def __init__(self, program: str, model: str, threads: int, options: tuple[str, ...] = (), device: str = "cpu"):
        self.program, self.model, self.threads, self.options, self.device = program, model, threads, options, device

    def command(self, shape: Shape, port: int) -> list[str]:
        command = [self.program, "serve", self.model, "--host", "127.0.0.1", "--port", str(port),
                   "--threads", str(self.threads), "--context", str(shape.context),
                   "--sequences", str(shape.sequences), "--device", self.device, *self.options]  # fmt: skip
        if shape.has_own_cache:
            return command
        cache = self.explained(shape.context)["memory"]["sequence_bytes"] * (shape.cached_sequences or shape.sequences)
        return [*command, "--cache-memory", str(cache)]

    def with_options(self, *options: str) -> "Ingot":
        return Ingot(self.program, self.model, self.threads, self.options + options, self.device)

    def explained(self, context: int) -> dict:
        command = [self.program, "explain", self.model, "--context", context, "--threads", self.threads, "--json"]
        return json.loads(output_of(command))

    def engine_alone(self, batch: int, prompt: int, generate: int) -> float:
        """Tokens a second of the same work without a server: prompts, then the rest of the tokens step by step."""
        command = [self.program, "bench", "model", self.model, "--threads", self.threads, "--device", self.device,
                   "--batch", batch, "--prompt", prompt, "--generate", generate - 1, "--repeat", 1, "--json"]  # fmt: skip
        measured = json.loads(output_of(command))
        seconds = prompt / measured["prefill_tokens_per_second"] + (generate - 1) / measured["decode_tokens_per_second"]
        return generate / seconds


class LlamaServer:
    name = "llama-server"

    def __init__(self, program: str, model: str, threads: int, options: tuple[str, ...] = ()):
        self.program, self.model, self.threads, self.options = program, model, threads, options

    def command(self, shape: Shape, port: int) -> list[str]:
        # It defers without limit, so there is a slot for every client. Without saved prompts (--cache-ram 0) its memory
        # is what a server of this shape needs.
        sequences = shape.cached_sequences or shape.sequences
        command = [self.program, "-m", self.model, "--host", "127.0.0.1", "--port", str(port),
                   "-t", str(self.threads), "-np", str(shape.sequences), "-c", str(sequences * shape.context),
                   "--no-ui", "--cache-ram", "0"]  # fmt: skip
        if shape.cached_sequences:
            command.append("--kv-unified")  # else each slot would have the part of a context
        return command + list(self.options)


Peer = Ingot | LlamaServer


def output_of(command: list) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=LOAD_SECONDS)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing said"]
        raise Unmeasurable(f"{Path(str(command[0])).name} {command[1]} left with {done.returncode}: {said[-1][:160]}")
    return done.stdout


def is_healthy(port: int) -> bool:
    """One question by hand: a library's start would be part of what is timed."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return client.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def lost_of(report: dict) -> int:
    return report["failed"] + report["waiting"] + report["too_short"]


class Server:
    """One that runs; use `started`."""

    def __init__(self, peer: Peer, process: subprocess.Popen, port: int, load_program: str):
        self.peer, self.process, self.port, self.load_program = peer, process, port, load_program
        self.start_seconds = 0.0

    def wait_until_healthy(self, began: float, log) -> None:
        while not is_healthy(self.port):
            if self.process.poll() is not None or time.monotonic() - began > START_SECONDS:
                log.seek(0)
                said = [line for line in log.read().splitlines() if line.strip()] or ["nothing said"]
                raise Unmeasurable(f"{self.peer.name} did not start: {' / '.join(said[-2:])[:240]}")
            time.sleep(0.002)
        self.start_seconds = time.monotonic() - began

    def peak_bytes(self) -> int:
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise Unmeasurable("the system does not say how much memory a process had")

    def load(self, *, failures_count: bool = True, **options: object) -> dict:
        """Runs the load generator; options are its own, with underscores for dashes. True stands for a flag."""
        command = [self.load_program, "--url", f"http://127.0.0.1:{self.port}", "--seconds", LOAD_SECONDS]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
        report = json.loads(output_of(command))
        lost = lost_of(report)
        if failures_count and lost > 0:
            why = report["first_failure"] or f"{report['too_short']} short, {report['waiting']} unanswered"
            raise Unmeasurable(f"{self.peer.name} lost {lost} of {report['requests']} requests: {why[:120]}")
        return report


@contextlib.contextmanager
def started(peer: Peer, shape: Shape, load_program: str) -> Iterator[Server]:
    port = free_port()
    command = peer.command(shape, port)
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            server = Server(peer, process, port, load_program)
            server.wait_until_healthy(began, log)
            yield server
            if process.poll() is not None:
                raise Unmeasurable(f"{peer.name} ended by itself with {process.returncode}")
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def load_average() -> float:
    return os.getloadavg()[0]
