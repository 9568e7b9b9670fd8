"""A bad network between two ends: frames are lost, delayed, reordered, doubled and spoilt, by rates and a seed.

One end is QEMU's `-netdev dgram`, a frame a datagram; the other a tap, behind which this machine's own TCP answers.
Both are in a network of this process's own (own_network.py).
"""

import contextlib
import heapq
import itertools
import multiprocessing
import os
import random
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

from own_network import Tap

MOST_FRAME, MOST_AT_ONCE = 65536, 32


class Wire:
    """The other end of an interface of this machine, which goes with it."""

    def __init__(self, tap: Tap):
        self.tap, self.file = tap, tap.open()

    def fileno(self) -> int:
        return self.file

    def receive(self) -> bytes:
        return os.read(self.file, MOST_FRAME)

    def send(self, frame: bytes) -> None:
        os.write(self.file, frame)

    def close(self) -> None:
        os.close(self.file)
        self.tap.remove()


class Datagrams:
    """The wire of an emulated card. `netdev` is what its emulator is told."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # nobody else is in this network to take it
            probe.bind(("127.0.0.1", 0))
            theirs = probe.getsockname()[1]
        self.socket.connect(("127.0.0.1", theirs))
        self.socket.setblocking(False)
        ours = self.socket.getsockname()[1]
        address = "{0}.type=inet,{0}.host=127.0.0.1,{0}.port={1}".format
        self.netdev = f"dgram,{address('local', theirs)},{address('remote', ours)}"

    def fileno(self) -> int:
        return self.socket.fileno()

    def receive(self) -> bytes:
        return self.socket.recv(MOST_FRAME)

    def send(self, frame: bytes) -> None:
        self.socket.send(frame)

    def close(self) -> None:
        self.socket.close()


@dataclass(frozen=True)
class Weather:
    """Rates are shares of the frames. Reordered ones come up to `lateness` seconds late, so others overtake them."""

    loss: float = 0
    doubling: float = 0
    reordering: float = 0
    corruption: float = 0
    delay: float = 0  # seconds, one way
    lateness: float = 0.004
    seed: int = 1


@dataclass
class Counts:
    carried: int = 0
    lost: int = 0
    doubled: int = 0
    reordered: int = 0
    corrupted: int = 0


class Direction:
    """What becomes of each frame that goes one way: the n-th has the same fate in every run of a seed."""

    def __init__(self, weather: Weather, name: str):
        self.weather = weather
        self.random = random.Random(f"{weather.seed} {name}")
        self.counts = Counts()

    def fate(self, frame: bytes) -> list[tuple[float, bytes]]:
        """The copies that arrive, each with how long it takes."""
        weather, counts = self.weather, self.counts
        lost, doubled, late, corrupted, lateness, place = (self.random.random() for _ in range(6))
        counts.carried += 1
        if lost < weather.loss:
            counts.lost += 1
            return []
        delay = weather.delay
        if late < weather.reordering:
            counts.reordered += 1
            delay += lateness * weather.lateness
        copies = [(delay, frame)]
        if doubled < weather.doubling:
            counts.doubled += 1
            copies.append((delay, frame))
        if corrupted < weather.corruption:
            counts.corrupted += 1
            spoilt = bytearray(frame)
            bit = int(place * len(frame) * 8)
            spoilt[bit // 8] ^= 1 << bit % 8
            copies[0] = (delay, bytes(spoilt))
        return copies


class LossyLink:
    """Carries frames in a process of its own, until close()."""

    def __init__(self, inner: Wire | Datagrams, outer: Wire | Datagrams):
        self.ends = [inner, outer]
        self.control, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=self.carry, args=(theirs,), daemon=True)
        self.process.start()

    def set_weather(self, weather: Weather) -> dict[str, Counts]:
        """From now on. Returns what the one before did to frames: `in` to the inner end, and `out` of it."""
        self.control.send(weather)
        return self.control.recv()

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        for end in self.ends:
            end.close()

    def carry(self, control) -> None:
        directions = [Direction(Weather(), "out"), Direction(Weather(), "in")]
        under_way = []  # (when, a number that keeps their order, frame, end)
        numbers = itertools.count()
        while True:
            wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
            ready, _, _ = select.select([*self.ends, control], [], [], wait)
            if control in ready:
                weather = control.recv()
                control.send({"out": directions[0].counts, "in": directions[1].counts})
                directions = [Direction(weather, "out"), Direction(weather, "in")]
            for end, other, direction in zip(self.ends, reversed(self.ends), directions):
                for frame in frames_at(end) if end in ready else ():
                    for delay, copy in direction.fate(frame):
                        heapq.heappush(under_way, (time.monotonic() + delay, next(numbers), copy, other))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, frame, end = heapq.heappop(under_way)
                with contextlib.suppress(OSError):  # an emulator that has not begun, or has ended
                    end.send(frame)


def frames_at(end: Wire | Datagrams) -> Iterator[bytes]:
    """What waits there, though not for so long that others would wait for it."""
    with contextlib.suppress(OSError):
        for _ in range(MOST_AT_ONCE):
            yield end.receive()
