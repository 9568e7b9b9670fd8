"""The two guests: a program on Ingot's kernel and on Debian's Linux, on the same machine with the same address."""

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from guest_instructions import pack  # noqa: E402

HERE = Path(__file__).resolve().parent
MEMORY = 256 << 20
# Nothing that Ingot's kernel does not do either: it takes one address of version 4.
LINUX_LINE = "quiet cryptomgr.notests console=ttyS0 ipv6.disable=1"
# On a busy machine Linux cannot measure the emulated counter, and then stands still. It counts nanoseconds where this
# machine has no counter of its own that QEMU knows.
LINUX_CLOCK = [] if os.uname().machine == "x86_64" else ["tsc_early_khz=1000000", "tsc=reliable"]
MODULES = ("virtio/virtio", "virtio/virtio_ring", "virtio/virtio_mmio", "net/net_failover", "net/virtio_net")
DIE_WITH_PARENT, NO_HUGE_PAGES = 1, 41  # of prctl


@dataclass
class Address:
    own: str
    gateway: str
    prefix: int

    def mask(self) -> str:
        bits = (1 << 32) - (1 << 32 - self.prefix)
        return ".".join(str(bits >> shift & 255) for shift in (24, 16, 8, 0))


@dataclass
class Program:
    path: Path
    root: Path | None  # where its interpreter and libraries are; None: it is static
    arguments: list[str]


@dataclass
class Guest:
    """Ready to boot."""

    name: str
    command: list[str]
    image_bytes: int


def ingot_guest(ingot: Path, kernels: Path, program: Program, address: Address, network: list[str], folder: Path,
                engine: bool, options: tuple[str, ...] = ()) -> Guest:  # fmt: skip
    """`network`: the words by which `ingot boot` gets a card. `engine`: the program is cast's own, with its model."""
    image = folder / f"image.{address.own}"
    what = ["--serve", "--engine", program.path] if engine else ["--program", program.path, "--grant", "network"]
    if program.root is not None:
        what += ["--root", program.root]
    if not engine:
        what += ["--tmpfs", "16M"]
    place = f"{address.own}/{address.prefix},{address.gateway}"
    cast = [ingot, "cast", *what, "--address", place, "--kernel", kernels, "--memory", str(MEMORY), "-o", image]
    run(cast)
    boot = [ingot, "boot", image, "--accelerator", "tcg", "--machine", "microvm", "--cpus", "1", "--dry-run", "--json"]
    boot += [*network, *(word for option in options for word in ("--option", option))]
    command = json.loads(run([*boot, "--", *program.arguments]))["command"]
    return Guest("ingot", command, image.stat().st_size)


def linux_guest(beside: Guest, vmlinux: Path, program: Program, address: Address, folder: Path,
                clock: list[str] = LINUX_CLOCK) -> Guest:  # fmt: skip
    """On the machine that Ingot's kernel gets, with another kernel and its files."""
    init = folder / "init"
    run(["x86_64-linux-gnu-gcc", "-std=c++20", "-Os", "-static", HERE / "linux_init.cc", "-o", init])
    files = {name: b"" for name in ("dev/", "proc/", "tmp/", "modules/")}
    files |= {"init": init.read_bytes(), program.path.name: program.path.read_bytes()}
    drivers = next((vmlinux.parent / "root/lib/modules").iterdir()) / "kernel"
    for module in ("net/core/failover", *(f"drivers/{name}" for name in MODULES)):
        path = drivers / f"{module}.ko"
        files[f"modules/{path.name}"] = path.read_bytes()
    if program.root is not None:
        files |= libraries_of(program)
    archive = folder / f"initramfs.{program.path.name}"
    archive.write_bytes(pack(files))
    words = [*clock, "--", address.own, address.mask(), address.gateway, f"/{program.path.name}", *program.arguments]
    command = list(beside.command)
    command[command.index("-kernel") + 1] = str(vmlinux)
    command[command.index("-append") + 1] = " ".join([LINUX_LINE, *words])
    return Guest("linux", [*command, "-initrd", str(archive)], vmlinux.stat().st_size + archive.stat().st_size)


def libraries_of(program: Program) -> dict[str, bytes]:
    """Where the loader looks for them, with the loader."""
    found, waiting = {}, [program.path]
    places = [program.root / folder / "x86_64-linux-gnu" for folder in ("lib", "usr/lib")]
    while waiting:
        listed = run(["readelf", "-d", waiting.pop()])
        for name in re.findall(r"Shared library: \[(.*)\]", listed):
            path = next(place / name for place in places if (place / name).exists())
            target = "lib64" if name.startswith("ld-linux") else "lib/x86_64-linux-gnu"
            if f"{target}/{name}" not in found:
                found[f"{target}/{name}"] = path.read_bytes()
                waiting.append(path)
    found["lib64/ld-linux-x86-64.so.2"] = (places[0] / "ld-linux-x86-64.so.2").read_bytes()
    return {"lib/": b"", "lib/x86_64-linux-gnu/": b"", "lib64/": b"", **found}


def run(words: list) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"os_network_vs_linux: {words[0]} {words[1]}: {done.stderr or done.stdout}")
    return done.stdout


class Booted:
    """A guest that runs, until the block ends that it is used in."""

    def __init__(self, guest: Guest, *words: str):
        self.name = guest.name
        self.output = b""

        def prepare():
            library = ctypes.CDLL(None)
            library.prctl(DIE_WITH_PARENT, signal.SIGKILL)
            library.prctl(NO_HUGE_PAGES, 1, 0, 0, 0)  # else a touched page would be counted as 512 of them

        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen([*guest.command, *words], preexec_fn=prepare, **streams)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def wait_for(self, text: bytes, seconds: float) -> None:
        """Until the console has it."""
        end = time.monotonic() + seconds
        while text not in self.output:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536) if readable else b""
            if not piece:
                found = self.output[-3000:].decode(errors="replace")
                sys.exit(f"os_network_vs_linux: expected {self.name} to say {text.decode()!r}, found:\n{found}")
            self.output += piece

    def touched_bytes(self) -> int:
        """Of the machine's memory, since reset."""
        maps = Path(f"/proc/{self.process.pid}/smaps").read_text(encoding="ascii")
        sizes = re.findall(r"^Size: +(\d+) kB\n(?:.*\n)*?Rss: +(\d+) kB$", maps, re.MULTILINE)
        return max(int(resident) for size, resident in sizes if int(size) << 10 == MEMORY) << 10
