"""A network of a process's own: a namespace, and interfaces in it for guests.

Nothing of it reaches this machine's networks. Done by system calls: not every machine has the programs.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import time

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
TUNSETIFF, TUNSETPERSIST = 0x400454CA, 0x400454CB
IFF_TAP, IFF_NO_PI, IFF_MULTI_QUEUE = 0x0002, 0x1000, 0x0100
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFMTU = 0x8913, 0x8914, 0x8916, 0x891C, 0x8922
SIOCGIFHWADDR = 0x8927
IFF_UP = 1

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
        with open("/dev/net/tun", "r+b", buffering=0):
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

    def open(self) -> int:
        """The other end, for who reads and writes frames in a guest's place."""
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", self.name.encode(), self.flags))
        except OSError:
            os.close(device)
            raise
        return device

    def keep(self, yes: int) -> None:
        """Whether it stays while nobody has it open."""
        device = self.open()
        try:
            fcntl.ioctl(device, TUNSETPERSIST, yes)
        finally:
            os.close(device)

    def remove(self) -> None:
        end = time.monotonic() + 10
        while True:
            try:
                return self.keep(0)
            except OSError as error:  # a guest that was ended may have it still
                if error.errno != errno.EBUSY or time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def hardware(self) -> bytes:
        """This machine's address on it."""
        return interface_call(SIOCGIFHWADDR, self.name, b"")[2:8]

    def add_address(self, address: str, prefix: int) -> None:
        if ":" not in address:
            mask = (0xFFFFFFFF << (32 - prefix) & 0xFFFFFFFF).to_bytes(4, "big")
            for code, value in ((SIOCSIFADDR, socket.inet_aton(address)), (SIOCSIFNETMASK, mask)):
                interface_call(code, self.name, struct.pack("HH4s", socket.AF_INET, 0, value))
            return
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as asked:
            packed = socket.inet_pton(socket.AF_INET6, address)
            fcntl.ioctl(asked, SIOCSIFADDR, struct.pack("16sIi", packed, prefix, self.index))
