#!/usr/bin/env python3
"""Images that nobody cast: manifest, archive and program are damaged behind the back of `ingot cast`, and booted.

usage: hostile_images.py INGOT KERNEL PROGRAM [--random COUNT] [--seed NUMBER] [--only BEGIN_OF_NAME]

Every boot must end with an error that says what is wrong and `exit 127` as the last line. With --random, bytes of the
headers are changed by chance as well: there the program may also run, and end as it likes, but the kernel may not panic,
nor hang. PROGRAM is small: it lies in the archive. Exits 77 (a skip to CTest) where there is no QEMU.
"""

import argparse
import random
import struct
import subprocess
import sys
from pathlib import Path

from guest import EMULATOR, SKIPPED, Ended, Guest, missing_tool

FIRST_SEGMENT = 64  # of the ELF file: its headers follow the file's own
SEGMENT_BYTES = 56
LOADABLE = 1


class Image:
    """The bytes of a good image, and where its parts begin."""

    def __init__(self, path: str, program: bytes):
        self.bytes = Path(path).read_bytes()
        self.manifest = self.bytes.index(b"ingot manifest 1\n")
        self.archive = self.bytes.rindex(b"070701", 0, self.manifest)
        self.program = self.bytes.index(program[:4096])
        self.header = self.bytes.rindex(b"070701", 0, self.program)  # of the program, in the archive
        (count,) = struct.unpack_from("<H", program, 56)
        kinds = [struct.unpack_from("<I", program, FIRST_SEGMENT + i * SEGMENT_BYTES)[0] for i in range(count)]
        self.loadable = [FIRST_SEGMENT + i * SEGMENT_BYTES for i, kind in enumerate(kinds) if kind == LOADABLE]

    def with_bytes(self, offset: int, value: bytes) -> bytes:
        return self.bytes[:offset] + value + self.bytes[offset + len(value) :]

    def with_text(self, old: bytes, new: bytes) -> bytes:
        """In the manifest, whose length stays."""
        assert len(old) == len(new), (old, new)
        return self.with_bytes(self.bytes.index(old, self.manifest), new)

    def with_segment(self, index: int, field: str, value: int) -> bytes:
        fields = {"kind": (0, "<I"), "flags": (4, "<I"), "offset": (8, "<Q"), "address": (16, "<Q"),
                  "file_bytes": (32, "<Q"), "memory_bytes": (40, "<Q"), "alignment": (48, "<Q")}  # fmt: skip
        place, form = fields[field]
        return self.with_bytes(self.program + self.loadable[index] + place, struct.pack(form, value))


def cases(image: Image) -> dict[str, tuple[bytes, str]]:
    """Name: the image, and a part of what the kernel must say."""
    elf = image.program
    huge = 1 << 46
    return {
        "manifest-key": (image.with_text(b"\nprogram ", b"\nprogrem "), "expected a key that this version knows"),
        "manifest-version": (image.with_text(b"manifest 1", b"manifest 9"), "expected 'ingot manifest 1'"),
        "manifest-number": (image.with_text(b"machine-memory ", b"machine-memory-"), "manifest, line"),
        "manifest-path": (image.with_text(b"\nprogram /bin", b"\nprogram /../"), "expected an absolute path"),
        "manifest-program": (image.with_text(b"\nprogram /bin", b"\nprogram /nib"), "expected the program /nib"),
        "archive-magic": (image.with_bytes(image.archive, b"070709"), "initramfs"),
        "archive-later-magic": (image.with_bytes(image.header, b"0707x1"), "initramfs"),
        "archive-size": (image.with_bytes(image.header + 54, b"7fffffff"), "initramfs"),
        "archive-name": (image.with_bytes(image.header + 94, b"00000000"), "initramfs"),
        "archive-digit": (image.with_bytes(image.header + 54, b"-0000001"), "initramfs"),
        "archive-kind": (image.with_bytes(image.header + 14, b"0000a1ff"), "initramfs"),
        "elf-magic": (image.with_bytes(elf, b"\x7fELK"), "expected a little-endian ELF64 file"),
        "elf-machine": (image.with_bytes(elf + 18, b"\xb7\x00"), "machine"),
        "elf-headers": (image.with_bytes(elf + 32, struct.pack("<Q", 1 << 40)), "expected"),
        "elf-header-count": (image.with_bytes(elf + 56, b"\xff\xff"), "expected"),
        "elf-entry-nowhere": (image.with_bytes(elf + 24, struct.pack("<Q", 0x8000_0000_0000)), "expected an entry below"),
        "elf-entry-in-kernel": (image.with_bytes(elf + 24, struct.pack("<Q", 0xFFFF_FFFF_8000_0000)), "expected an entry below"),
        "elf-no-segment": (image.with_bytes(elf + 56, b"\x00\x00"), "expected a segment to load"),
        "elf-offset": (image.with_segment(0, "offset", 1 << 50), "expected"),
        "elf-file-bytes": (image.with_segment(0, "file_bytes", 1 << 63), "expected"),
        "elf-less-memory": (image.with_segment(0, "memory_bytes", 1), "expected"),
        "elf-much-memory": (image.with_segment(-1, "memory_bytes", huge), "expected"),
        "elf-kernel-half": (image.with_segment(0, "address", 0xFFFF_8000_0000_0000), "expected"),
        "elf-null-page": (image.with_segment(0, "address", 0), "expected"),
        "elf-last-address": (image.with_segment(-1, "address", (1 << 64) - 4096), "expected"),
        "elf-overlap": (image.with_segment(1, "address", struct.unpack_from("<Q", image.bytes, elf + image.loadable[0] + 16)[0]),
                        "expected"),
        "elf-writable-code": (image.with_segment(1, "flags", 7), "no page writable and executable at once"),
    }  # fmt: skip


def boot(image: str, log: str) -> Ended:
    """Without `ingot boot`, which reads the manifest, too, and would not start."""
    words = [EMULATOR, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "microvm", "-m", "128",
             "-accel", "tcg", "-cpu", "max", "-kernel", image, "-append", "debug-exit check-locks poison",
             "-chardev", f"file,id=log,path={log}", "-device", "isa-debugcon,iobase=0xe9,chardev=log",
             "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4", "-serial", "null"]  # fmt: skip
    try:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return Ended(None, "", Path(log).read_text(errors="replace"))
    text = Path(log).read_text(errors="replace")
    last = (text.splitlines() or [""])[-1]
    return Ended(int(last[5:]) if last.startswith("exit ") else -1, "", text)


def problem_with(ended: Ended, text: str | None) -> str | None:
    lines = ended.log.splitlines()
    if ended.status is None:
        return "expected an end, found none"
    if not lines or not lines[-1].startswith("exit "):
        return "expected `exit N` as the last line"
    if "panic" in ended.log:
        return "expected no panic"
    if text is None:
        return None
    if ended.status != 127 or lines[-1] != "exit 127":
        return f"expected status 127, found {ended.status}"
    if not any(line.startswith("error: program: ") and text in line for line in lines):
        return f"expected an error with '{text}'"
    return None


def mutations(image: Image, count: int, seed: int) -> dict[str, tuple[bytes, None]]:
    """Changes within the first bytes of each part: headers, for the most."""
    made = {}
    for number in range(seed, seed + count):
        chance = random.Random(number)
        changed = bytearray(image.bytes)
        for _ in range(chance.randrange(1, 5)):
            begin, length = chance.choice(((image.manifest, 160), (image.archive, 110), (image.header, 120),
                                           (image.program, 64), (image.program + 64, 10 * SEGMENT_BYTES)))  # fmt: skip
            place = begin + chance.randrange(length)
            changed[place] = chance.choice((0, 0xFF, changed[place] ^ 1 << chance.randrange(8), chance.randrange(256)))
        made[f"random-{number}"] = (bytes(changed), None)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ingot", "kernel", "program"):
        parser.add_argument(name)
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED hostile_images: {missing}")
        return SKIPPED
    guest = Guest(arguments.ingot, arguments.kernel)
    failed = tried = 0
    try:
        cast = guest.cast("--program", arguments.program)
        if cast.returncode != 0:
            sys.exit(f"hostile_images: expected an image, found\n{cast.stderr}")
        image = Image(guest.path("image"), Path(arguments.program).read_bytes())
        every = {**cases(image), **mutations(image, arguments.random, arguments.seed)}
        for name, (damaged, text) in every.items():
            if arguments.only is not None and not name.startswith(arguments.only):
                continue
            tried += 1
            Path(guest.path("damaged")).write_bytes(damaged)
            ended = boot(guest.path("damaged"), guest.path("log"))
            problem = problem_with(ended, text)
            if problem is not None:
                failed += 1
                print(f"FAILED {name}: {problem}\n{ended.log[-3000:]}")
    finally:
        guest.close()
    print(f"{'FAILED' if failed else 'passed'} hostile_images: {tried - failed} of {tried}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
