"""Counting a guest's instructions by where they lie: what benches that boot Linux beside Ingot's kernel share."""

import bisect
import collections
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UPPER_HALF = 1 << 63
Blocks = dict[int, int]  # instructions by the address of their block
Phases = dict[str, Blocks]


def fetch_linux() -> Path:
    fetched = subprocess.run([ROOT / "scripts/fetch_linux"], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode != 0:
        sys.exit(fetched.returncode)
    return Path(fetched.stdout.strip())


def build_counter(folder: Path) -> Path:
    source, library = ROOT / "bench/instruction_counter.cc", folder / "instruction_counter.so"
    subprocess.run(["c++", "-std=c++20", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


def pack(files: dict[str, bytes]) -> bytes:
    """An initramfs, in cpio's newc form: files that may be executed. A name that ends with a stroke is a folder."""
    archive = bytearray()
    for name, content in {**files, "TRAILER!!!": b""}.items():
        mode = 0o40755 if name.endswith("/") else 0o100755
        name = name.rstrip("/")
        fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        archive += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        archive += b"\0" * (-len(archive) % 4) + content
        archive += b"\0" * (-len(archive) % 4)
    return bytes(archive)


def symbols_of(path: Path) -> list[tuple[int, str]]:
    """Names by address, in its order."""
    words = ["x86_64-linux-gnu-nm", "--numeric-sort", "--demangle", "--defined-only", path]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return [(int(address, 16), name) for address, _, name in (line.split(" ", 2) for line in listed)]


class Engine:
    """The program's file: where its functions lie, and their first bytes."""

    def __init__(self, path: Path):
        self.path = path
        self.content = path.read_bytes()
        (self.entry,) = struct.unpack_from("<Q", self.content, 24)
        self.exit = next(address for address, name in symbols_of(path) if name == "_exit")

    def marker(self, address: int) -> str:
        (table,) = struct.unpack_from("<Q", self.content, 32)
        size, count = struct.unpack_from("<HH", self.content, 54)
        for index in range(count):
            kind, _, offset, begin, _, file_bytes = struct.unpack_from("<IIQQQQ", self.content, table + index * size)
            if kind == 1 and begin <= address < begin + file_bytes:
                at = offset + address - begin
                return f"{address:x}:{self.content[at : at + 16].hex()}"
        sys.exit(f"guest_instructions: expected {address:x} in a segment of {self.path}, found it in none")


def read_report(path: Path) -> Phases:
    phases = collections.defaultdict(dict)
    for row in path.read_text(encoding="ascii").splitlines():
        phase, address, count = row.split()
        phases[phase][int(address, 16)] = int(count)
    return phases


def sum_of(blocks: Blocks, upper: bool) -> int:
    return sum(count for at, count in blocks.items() if (at >= UPPER_HALF) == upper)


def parts_of(boot: Blocks, run: Blocks) -> dict[str, int]:
    """`boot`: before the program's first instruction, `run`: since."""
    parts = {
        "before ring 3, lower half": sum_of(boot, False),
        "before ring 3, upper half": sum_of(boot, True),
        "after, upper half": sum_of(run, True),
    }
    return {**parts, "operating system": sum(parts.values()), "ring 3": sum_of(run, False)}


def print_profile(kernel: Path, spent: list[Blocks], before: list[Blocks], parts: int = 1) -> None:
    """The kernel's instructions by function, a part's share, with what had been spent before taken off."""
    symbols = symbols_of(kernel)
    places = [address for address, _ in symbols]
    functions = collections.Counter()
    for sign, source in ((1, spent), (-1, before)):
        for blocks in source:
            for address, count in blocks.items():
                if address >= UPPER_HALF:
                    at = bisect.bisect_right(places, address) - 1
                    functions[symbols[at][1] if at >= 0 else "?"] += sign * count
    for name, count in functions.most_common(60):
        print(f"    {count // parts:>12,}  {name}")
