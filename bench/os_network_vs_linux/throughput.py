"""Bytes a second between this machine and each guest, by Debian's iperf3 over tap in a network namespace.

usage: throughput.py SETTINGS      SETTINGS: JSON, as measure() hands them to itself in a namespace
"""

import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tests/network")]
from guests import Address, Booted, Program, ingot_guest, linux_guest, run  # noqa: E402
from own_network import Tap, enter_namespace  # noqa: E402

PACKAGES = ["iperf3", "libiperf0", "libsctp1", "libssl3", "libc6"]
ADDRESSES = {"ingot": Address("192.0.2.2", "192.0.2.1", 25), "linux": Address("192.0.2.130", "192.0.2.129", 25)}
LIMIT_SECONDS = 200


@dataclasses.dataclass
class Settings:
    ingot: str
    kernels: str
    vmlinux: str | None  # None: Ingot's kernel alone
    guest_root: str  # packages for x86_64
    own_root: str  # for this machine
    rounds: int
    seconds: int


def fetch(architecture: str, folder: Path) -> Path | None:
    words = [ROOT / "scripts/fetch_packages", folder, architecture, *PACKAGES]
    done = subprocess.run(words, stdout=sys.stderr, check=False)
    return folder / "root" if done.returncode == 0 else None


def measure(ingot: Path, kernels: Path, vmlinux: Path | None, rounds: int, seconds: int, folder: Path) -> dict | str:
    """By guest and direction, the bytes a second of each round; or why there are none."""
    own = run(["dpkg", "--print-architecture"]).strip()
    guest_root, own_root = fetch("amd64", folder / "iperf3.amd64"), fetch(own, folder / f"iperf3.{own}")
    if guest_root is None or own_root is None:
        return "iperf3 could not be fetched"
    paths = [None if path is None else str(path) for path in (ingot, kernels, vmlinux, guest_root, own_root)]
    settings = Settings(*paths, rounds, seconds)
    words = [sys.executable, "-B", __file__, json.dumps(dataclasses.asdict(settings))]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else "see above (it needs a namespace with tap devices)"


def transfer(settings: Settings, address: Address, reverse: bool) -> float:
    """Reverse: the guest sends. As whoever receives has it, without the first second."""
    own = Path(settings.own_root)
    libraries = ":".join(str(path) for path in own.glob("usr/lib/*-linux-gnu*"))
    words = [own / "usr/bin/iperf3", "-c", address.own, "-J", "-O", "1", "-t", str(settings.seconds)]
    if reverse:
        words.append("-R")
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    try:
        streams = {"capture_output": True, "text": True, "env": environment}
        done = subprocess.run(words, timeout=LIMIT_SECONDS, check=False, **streams)
        return json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"] / 8
    except subprocess.TimeoutExpired:
        way = "from" if reverse else "to"
        sys.exit(f"os_network_vs_linux: expected a transfer {way} {address.own} to end, found that it stands still")
    except (ValueError, KeyError):
        sys.exit(f"os_network_vs_linux: expected figures of iperf3, found {done.stdout[-1000:]}{done.stderr}")


def inside(settings: Settings) -> dict:
    if (missing := enter_namespace()) is not None:
        sys.exit(f"os_network_vs_linux: {missing}")
    root = Path(settings.guest_root)
    program = Program(root / "usr/bin/iperf3", root, ["-s", "-4", "--forceflush"])
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        guests = []
        for index, (system, address) in enumerate(ADDRESSES.items()):
            tap = Tap(f"tap{index}")
            tap.add_address(address.gateway, address.prefix)
            network = ["--tap", tap.name]
            guest = ingot_guest(settings.ingot, settings.kernels, program, address, network, folder, False)
            if system == "linux" and settings.vmlinux is not None:
                guest = linux_guest(guest, Path(settings.vmlinux), program, address, folder)
            guests.append(guest)
        if settings.vmlinux is None:
            guests.pop()
        # Both run, and one of them is idle: so rounds can take turns, and whatever else this machine does meets both.
        booted = [Booted(guest) for guest in guests]
        try:
            for turn in range(settings.rounds):
                for guest in booted:
                    for test, direction in enumerate(("to the guest", "from the guest"), start=2 * turn + 1):
                        guest.wait_for(f"Server listening on 5201 (test #{test})".encode(), LIMIT_SECONDS)
                        speed = transfer(settings, ADDRESSES[guest.name], direction.startswith("from"))
                        print(f"  {guest.name:6} {direction:15} {speed / 1e6:9.1f} MB/s", file=sys.stderr, flush=True)
                        found.setdefault(guest.name, {}).setdefault(direction, []).append(speed)
        finally:
            for guest in booted:
                guest.__exit__()
    return found


def medians(found: dict) -> dict[str, dict[str, float]]:
    return {name: {way: statistics.median(speeds) for way, speeds in ways.items()} for name, ways in found.items()}


if __name__ == "__main__":
    print(json.dumps(inside(Settings(**json.loads(sys.argv[1])))))
