#!/usr/bin/env python3
"""What the network costs the operating system: a cast server beside the same binary on Debian's Linux.

usage: bench/os_network_vs_linux/run.py ENGINE KERNELS [VMLINUX] [--ingot PROGRAM] [--section NAME]... [--requests N]
           [--tokens N] [--rounds N] [--seconds N] [--packages FOLDER] [--first-answer] [--check] [--json] [--profile]
           [--only ingot|linux]

ENGINE: the static program `ingot` for x86_64 (--ingot: one that runs here and casts, where that does not), KERNELS: the
folder build/os/x86_64/kernels, VMLINUX: what scripts/fetch_linux made, with its modules beside it; left out, it is
fetched, and where it cannot be the status is 77. README.md says what is measured, and how.

    instructions    reset to the first HTTP answer, a token of a stream, a request; image and memory at the first answer
    throughput      iperf3 over tap, both ways

With --check, a missed bar is a failure. --first-answer stops after that, --profile lists where Ingot's kernel spends
its part, --packages says where iperf3 is unpacked (build).
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/programs")]
from counting import Counted, Load, count  # noqa: E402
from guest_instructions import Engine, build_counter, fetch_linux, print_profile  # noqa: E402
from guests import Address, Program, ingot_guest, linux_guest  # noqa: E402
from running_machine import free_port  # noqa: E402
from throughput import measure, medians  # noqa: E402

FIRST_BAR, TOKEN_BAR, REQUEST_BAR, SPEED_BAR = 1 / 40, 0.6, 0.6, 1.0
SECTIONS = ("instructions", "throughput")
ADDRESS = Address("10.0.2.15", "10.0.2.2", 24)
SERVE = ["serve", "--host", "0.0.0.0", "--threads", "1", "--log", "none"]


def count_guests(arguments: argparse.Namespace, ingot: Path, folder: Path) -> dict[str, Counted]:
    engine = Engine(arguments.engine)
    counter = build_counter(folder)
    load = Load(free_port(), 0 if arguments.first_answer else arguments.requests, arguments.tokens)
    program = Program(arguments.engine, None, SERVE)
    options = ("no-aslr",) if arguments.profile else ()  # addresses of the file
    network = ["--publish", f"{load.port}:8080"]
    guest = ingot_guest(ingot, arguments.kernels, program, ADDRESS, network, folder, True, options)
    guests = [] if arguments.only == "linux" else [guest]
    if arguments.only != "ingot":
        guests.append(linux_guest(guest, arguments.vmlinux, program, ADDRESS, folder, clock=[]))
    return {guest.name: count(guest, engine, counter, load, folder) for guest in guests}


def first_answers(counted: dict[str, Counted]) -> dict[str, dict[str, int]]:
    return {
        name: {"image bytes": found.image_bytes, "memory bytes": found.memory_bytes, **found.first}
        for name, found in counted.items()
    }


def print_profiles(kernels: Path, counted: Counted, arguments: argparse.Namespace) -> None:
    kernel = kernels / "full"
    after, before = counted.request_blocks
    print("Ingot's kernel for a request:")
    print_profile(kernel, [after], [before], arguments.requests)
    long, short, streamed = counted.token_blocks
    print("and for a token:")
    print_profile(kernel, [long, streamed], [short, short], arguments.tokens)


class Table:
    """Rows of figures, one guest beside the other, with the bars that were missed."""

    def __init__(self, names: list[str]):
        self.names, self.missed = names, []
        print(f"{'':44}" + "".join(f"{name:>16}" for name in names))

    def row(self, title: str, figures: dict[str, float], bar: float | None = None, at_least: bool = False) -> None:
        verdict = ""
        if len(self.names) == 2 and bar is not None:
            ratio = figures["ingot"] / figures["linux"]
            met = ratio >= bar if at_least else ratio <= bar
            verdict = f"   {ratio:.4f} (at {'least' if at_least else 'most'} {bar:g}: {'met' if met else 'MISSED'})"
            if not met:
                self.missed.append(title)
        print(f"{title:44}" + "".join(f"{round(figures[name]):>16,}" for name in self.names) + verdict)


def print_counted(table: Table, counted: dict[str, Counted]) -> None:
    answers = first_answers(counted)
    for part in next(iter(answers.values())):
        bar = FIRST_BAR if part == "operating system" else None
        table.row(f"first answer: {part}", {name: answer[part] for name, answer in answers.items()}, bar)
    if next(iter(counted.values())).request == 0:
        return
    table.row("a streamed token, the kernel", {name: found.token for name, found in counted.items()}, TOKEN_BAR)
    table.row("a request, the kernel", {name: found.request for name, found in counted.items()}, REQUEST_BAR)
    table.row("an idle second, the kernel", {name: found.idle_second for name, found in counted.items()})


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", type=Path)
    parser.add_argument("kernels", type=Path)
    parser.add_argument("vmlinux", type=Path, nargs="?")
    parser.add_argument("--ingot", type=Path)
    parser.add_argument("--section", choices=SECTIONS, action="append")
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--packages", type=Path, default=ROOT / "build")
    parser.add_argument("--first-answer", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--only", choices=("ingot", "linux"))
    arguments = parser.parse_args()
    if arguments.first_answer:
        arguments.section = ["instructions"]
    return arguments


def main() -> int:
    arguments = parse_arguments()
    if arguments.only != "ingot" and arguments.vmlinux is None:
        arguments.vmlinux = fetch_linux()
    ingot = arguments.ingot or arguments.engine
    counted, speeds = {}, {}
    with tempfile.TemporaryDirectory() as name:
        if "instructions" in (arguments.section or SECTIONS):
            counted = count_guests(arguments, ingot, Path(name))
    if "throughput" in (arguments.section or SECTIONS):
        vmlinux = None if arguments.only == "ingot" else arguments.vmlinux
        speeds = measure(ingot, arguments.kernels, vmlinux, arguments.rounds, arguments.seconds, arguments.packages)
        if isinstance(speeds, str):
            sys.exit(f"os_network_vs_linux: throughput is left out: {speeds}")
    if arguments.json:
        more = {name: {"token": found.token, "request": found.request} for name, found in counted.items()}
        print(json.dumps({"first_answer": first_answers(counted), "kernel": more, "bytes_per_second": speeds}))
        return 0
    table = Table([name for name in ("ingot", "linux") if name in (counted or speeds)])
    if counted:
        print_counted(table, counted)
    for way in ("to the guest", "from the guest") if speeds else ():
        middle = {name: ways[way] for name, ways in medians(speeds).items()}
        table.row(f"iperf3 {way}, bytes/s", middle, SPEED_BAR, at_least=True)
    if arguments.profile and "ingot" in counted and not arguments.first_answer:
        print_profiles(arguments.kernels, counted["ingot"], arguments)
    return 1 if arguments.check and table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
