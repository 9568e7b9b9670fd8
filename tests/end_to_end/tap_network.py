"""A network of a test's own: a namespace, an interface in it for a guest, and a look at what passes there.

Nothing of it reaches this machine's networks. Done by system calls: not every machine has the programs.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import threading
import time
from dataclasses import dataclass

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
TUNSETIFF, TUNSETPERSIST = 0x400454CA, 0x400454CB
IFF_TAP, IFF_NO_PI, IFF_MULTI_QUEUE = 0x0002, 0x1000, 0x0100
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFMTU = 0x8913, 0x8914, 0x8916, 0x891C, 0x8922
IFF_UP = 1
ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, CHECKSUM_NOT_READY, PACKET_OUTGOING = 263, 8, 8, 4

LIBRARY = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    if LIBRARY.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def enter_namespace() -> str | None:
    """This process, which must have one thread, goes into a namespace of its own. Else: why it cannot."""
    user, group = os.geteuid(), os.getegid()
    try:
        try:
            unshare(CLONE_NEWNET | CLONE_NEWNS)
        except PermissionError:
            unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)
            for name, text in (("uid_map", f"0 {user} 1"), ("setgroups", "deny"), ("gid_map", f"0 {group} 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        # What /sys tells is of the namespace that it was mounted in.
        private, recursive = 1 << 18, 1 << 14
        if LIBRARY.mount(b"none", b"/", None, private | recursive, None) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        LIBRARY.mount(b"sysfs", b"/sys", b"sysfs", 0, None)
        set_up("lo")
        with open("/dev/net/tun", "rb"):
            return None
    except OSError as error:
        return f"expected a network namespace and /dev/net/tun, found: {error}"


def interface_call(code: int, name: str, value: bytes) -> bytes:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        return fcntl.ioctl(asked, code, struct.pack("16s24s", name.encode(), value))[16:]


def set_up(name: str) -> None:
    flags = struct.unpack_from("H", interface_call(SIOCGIFFLAGS, name, b""))[0]
    interface_call(SIOCSIFFLAGS, name, struct.pack("H", flags | IFF_UP))


class Tap:
    """An interface that a guest's card is the other end of. Others may have the same addresses once it is removed."""

    def __init__(self, name: str, mtu: int = 1500, queues: bool = False):
        self.name = name
        self.flags = IFF_TAP | IFF_NO_PI | (IFF_MULTI_QUEUE if queues else 0)
        self.keep(1)
        # Its addresses are the test's to choose: nobody else has them.
        try:
            with open(f"/proc/sys/net/ipv6/conf/{name}/accept_dad", "w", encoding="ascii") as file:
                file.write("0")
        except OSError:
            pass  # they are ready a second later
        interface_call(SIOCSIFMTU, name, struct.pack("i", mtu))
        set_up(name)
        self.index = socket.if_nametoindex(name)

    def keep(self, yes: int) -> None:
        """Whether it stays while nobody has it open."""
        with open("/dev/net/tun", "r+b", buffering=0) as device:
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", self.name.encode(), self.flags))
            fcntl.ioctl(device, TUNSETPERSIST, yes)

    def remove(self) -> None:
        end = time.monotonic() + 10
        while True:
            try:
                return self.keep(0)
            except OSError as error:  # a guest that was ended may have it still
                if error.errno != errno.EBUSY or time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def add_address(self, address: str, prefix: int) -> None:
        if ":" not in address:
            mask = (0xFFFFFFFF << (32 - prefix) & 0xFFFFFFFF).to_bytes(4, "big")
            for code, value in ((SIOCSIFADDR, socket.inet_aton(address)), (SIOCSIFNETMASK, mask)):
                interface_call(code, self.name, struct.pack("HH4s", socket.AF_INET, 0, value))
            return
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as asked:
            packed = socket.inet_pton(socket.AF_INET6, address)
            fcntl.ioctl(asked, SIOCSIFADDR, struct.pack("16sIi", packed, prefix, self.index))


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
