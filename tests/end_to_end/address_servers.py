"""Who gives addresses on a tap: a DHCP server (RFC 2131) and a router that advertises prefixes (RFC 4861)."""

import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "network"))
from own_network import Tap  # noqa: E402

LIMIT_SECONDS = 60
COOKIE = b"\x63\x82\x53\x63"
DISCOVER, OFFER, REQUEST, ACKNOWLEDGMENT = 1, 2, 3, 5
SO_BINDTODEVICE = 25
IP_PKTINFO = 8


class Background:
    """A thread that does step() until the block ends that this is used in."""

    def __init__(self):
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def run(self) -> None:
        while not self.is_over.is_set():
            self.step()

    def step(self) -> None:
        raise NotImplementedError


class Asked(NamedTuple):
    kind: int
    client: str  # the address that it has; 0.0.0.0: none
    to_server: bool  # by itself, not to all


class DhcpServer(Background):
    """Gives `address` to whoever asks, unless it is silent. lease: seconds to renewal, to rebinding, to the end."""

    def __init__(self, tap: Tap, own: str, address: str, lease: tuple[int, int, int]):
        super().__init__()
        self.own, self.address, self.lease = own, address, lease
        self.is_silent = False
        self.asked: list[Asked] = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, tap.name.encode())
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.socket.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        self.socket.bind(("", 67))
        self.socket.settimeout(0.1)

    def __exit__(self, *_):
        super().__exit__()
        self.socket.close()

    def wait_for(self, what: str, is_it) -> None:
        """Until somebody has asked so since the last wait."""
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            if any(is_it(asked) for asked in self.asked):
                self.asked.clear()
                return
            time.sleep(0.05)
        raise AssertionError(f"expected {what} within {LIMIT_SECONDS} s, found {self.asked}")

    def step(self) -> None:
        try:
            message, more, _, _ = self.socket.recvmsg(1500, socket.CMSG_SPACE(12))
        except TimeoutError:
            return
        options = options_of(message)
        kind = options.get(53, b"\0")[0]
        client = socket.inet_ntoa(message[12:16])
        sent_to = next(socket.inet_ntoa(data[8:12]) for _, of, data in more if of == IP_PKTINFO)
        is_silent = self.is_silent
        self.asked.append(Asked(kind, client, sent_to == self.own))
        if is_silent or kind not in (DISCOVER, REQUEST):
            return
        answer = OFFER if kind == DISCOVER else ACKNOWLEDGMENT
        to = client if client != "0.0.0.0" else "255.255.255.255"
        self.socket.sendto(self.reply(message, answer), (to, 68))

    def reply(self, message: bytes, kind: int) -> bytes:
        own = socket.inet_aton(self.own)
        head = bytes([2, 1, 6, 0]) + message[4:8] + bytes(8) + socket.inet_aton(self.address) + bytes(8)
        renewal, rebinding, end = (struct.pack("!I", seconds) for seconds in self.lease)
        options = {53: bytes([kind]), 54: own, 51: end, 58: renewal, 59: rebinding, 1: b"\xff\xff\xff\0", 3: own}
        written = b"".join(bytes([code, len(value)]) + value for code, value in options.items())
        return head + message[28:44] + bytes(192) + COOKIE + written + b"\xff"


def options_of(message: bytes) -> dict[int, bytes]:
    options, at = {}, 240
    while at + 1 < len(message) and message[at] != 255:
        if message[at] == 0:
            at += 1
            continue
        options[message[at]] = message[at + 2 : at + 2 + message[at + 1]]
        at += 2 + message[at + 1]
    return options


class Router(Background):
    """Advertises prefixes of 64 bits, twice a second."""

    def __init__(self, tap: Tap, *prefixes: str):
        super().__init__()
        self.tap = tap
        # Hop limit 64, a router for half an hour; then prefixes of the link, of which addresses are made, for an hour.
        self.message = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
        for prefix in prefixes:
            packed = socket.inet_pton(socket.AF_INET6, prefix)
            self.message += struct.pack("!BBBBIII16s", 3, 4, 64, 0xC0, 3600, 3600, 0, packed)
        self.socket = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, tap.index)

    def __exit__(self, *_):
        super().__exit__()
        self.socket.close()

    def step(self) -> None:
        try:
            self.socket.sendto(self.message, ("ff02::1", 0, 0, self.tap.index))
        except OSError:
            pass  # the interface's own address is not ready before there is a guest
        self.is_over.wait(0.5)
