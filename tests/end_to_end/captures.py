"""A look at what passes over a tap, or was kept of it in a file."""

import socket
import struct
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "network"))
from own_network import Tap  # noqa: E402

ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, CHECKSUM_NOT_READY, PACKET_OUTGOING = 263, 8, 8, 4


@dataclass
class Frame:
    is_to_guest: bool
    bytes: int
    lacks_checksum: bool  # which the card is to compute, or nobody needs: the field holds the sum of what is not TCP's
    head: bytes

    def is_tcp(self, version: int) -> bool:
        kind, protocol_at = (b"\x08\x00", 23) if version == 4 else (b"\x86\xdd", 20)
        return self.head[12:14] == kind and self.head[protocol_at] == 6

    def begins_checksum(self, version: int) -> bool:
        """Whether TCP's field holds the sum of addresses, protocol and length, to which the card adds the rest."""
        begin = 34 if version == 4 else 54
        addresses = self.head[26:34] if version == 4 else self.head[22:54]
        total = 6 + self.bytes - begin + sum(struct.unpack(f"!{len(addresses) // 2}H", addresses))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        return struct.unpack_from("!H", self.head, begin + 16)[0] == total


class Capture:
    """What passes over a tap while its block is used: `frames`, as both ends' drivers hand them over."""

    def __init__(self, tap: Tap):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind((tap.name, ETH_P_ALL))
        self.socket.settimeout(0.1)
        self.frames: list[Frame] = []
        self.is_over = threading.Event()
        self.reader = threading.Thread(target=self.read)

    def __enter__(self):
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.reader.join()
        self.socket.close()

    def read(self) -> None:
        while True:
            try:
                head, more, _, source = self.socket.recvmsg(96, socket.CMSG_SPACE(20))
            except TimeoutError:
                if self.is_over.is_set():
                    return
                continue
            [status, length] = next(struct.unpack_from("II", data) for _, kind, data in more if kind == PACKET_AUXDATA)
            self.frames.append(Frame(source[2] == PACKET_OUTGOING, length, bool(status & CHECKSUM_NOT_READY), head))


def read_pcap(path: str) -> list[bytes]:
    """The frames of a file in pcap's form, each as far as it was kept."""
    with open(path, "rb") as file:
        magic, _, _, _, _, _, link = struct.unpack("<IHHiIII", file.read(24))
        if (magic, link) != (0xA1B2C3D4, 1):
            raise AssertionError(f"expected a pcap of Ethernet's frames, found magic {magic:#x} and link {link}")
        frames = []
        while head := file.read(16):
            [kept] = struct.unpack_from("<I", head, 8)
            frames.append(file.read(kept))
            if len(frames[-1]) != kept:
                raise AssertionError(f"expected {kept} bytes of frame {len(frames)}, found {len(frames[-1])}")
        return frames
