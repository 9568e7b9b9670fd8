"""A guest that runs tests/programs/byte_streams, at the other end of a bad network."""

import errno
import json
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from lossy_link import Datagrams, LossyLink, Wire
from own_network import Tap

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from guest import Guest  # noqa: E402

GUEST_ADDRESS, OUR_ADDRESS, PORT = "192.0.2.10", "192.0.2.1", 5001
NETWORK = "user,id=network"  # how the card's network begins in an emulator's words, before it is led to the link
MEMORY_MIB = 256


def ingot_words(guest: Guest, program: str, machine: str) -> list[str]:
    """The emulator's, for the program on Ingot's kernel."""
    address = f"{GUEST_ADDRESS}/24,{OUR_ADDRESS}"
    cast = guest.cast("--program", program, "--grant", "network", "--address", address, "--arg", str(PORT),
                      "--memory", f"{MEMORY_MIB}M")  # fmt: skip
    if cast.returncode != 0:
        raise AssertionError(f"expected an image, found:\n{cast.stderr}")
    plan = guest.run("boot", guest.path("image"), "--machine", machine, "--accelerator", "tcg", "--dry-run", "--json")
    return json.loads(plan.stdout)["command"]


class StreamGuest:
    """Boots at the link's inner end, and is there within the block that it is used in."""

    def __init__(self, words: list[str], boot_seconds: float = 120):
        self.words, self.boot_seconds = words, boot_seconds
        # One each: the emulator opens the log's anew, and would write over the other.
        self.output, self.log = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")

    def __enter__(self):
        card, tap = Datagrams(), Tap("wire")
        tap.add_address(OUR_ADDRESS, 24)
        self.link = LossyLink(card, Wire(tap))
        words = [f"{card.netdev},id=network" if word.startswith(NETWORK) else word for word in self.words]
        self.emulator = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.log)
        end = time.monotonic() + self.boot_seconds
        while "listening" not in self.text():
            if self.emulator.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise AssertionError(f"expected a guest that listens, found:\n{self.text()}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.emulator.kill()
        self.emulator.wait()
        self.link.close()

    def text(self) -> str:
        """What the program said, then the kernel's log."""
        texts = []
        for file in (self.output, self.log):
            file.seek(0)
            texts.append(file.read())
        return "\n".join(texts)

    def connect(self, seconds: float) -> socket.socket:
        """Who asks for a hardware address before the guest's card is up hears after seconds that there is none."""
        end = time.monotonic() + seconds
        while True:
            try:
                return socket.create_connection((GUEST_ADDRESS, PORT), timeout=seconds)
            except OSError as error:
                if error.errno != errno.EHOSTUNREACH or time.monotonic() > end:
                    raise

    def exchange(self, content: bytes, wanted: int, seconds: float = 300) -> tuple[bytes, float]:
        """Sends content and takes what is wanted at the same time. Returns what came, and how long that took."""
        with self.connect(seconds) as connection:
            begin = time.monotonic()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")  # whatever this machine prefers
            connection.sendall(struct.pack("<QQ", len(content), wanted))
            sender = threading.Thread(target=connection.sendall, args=(content,))
            sender.start()
            came = bytearray()
            while piece := connection.recv(1 << 16):
                came += piece
            sender.join()
        return bytes(came), time.monotonic() - begin

    def end(self) -> str:
        """By a request for nothing. Returns all that it said."""
        self.exchange(b"", 0)
        self.emulator.wait(60)
        return self.text()


def random_content(seed: int, count: int) -> bytes:
    return random.Random(seed).randbytes(count)
