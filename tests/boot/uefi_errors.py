#!/usr/bin/env python3
"""What our UEFI loader says on the firmware's console about a kernel that it cannot start.

usage: uefi_errors.py IMAGE

IMAGE is a kernel beside BOOTX64.EFI. Exits 0 when every volume gets its sentence, 1 when not, 77 (a skip to CTest) where
there is no emulator or no UEFI firmware.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run import SKIPPED, emulator_command, make_volume, missing_tool  # noqa: E402

SECONDS = 60


def remove(kernel: Path) -> None:
    kernel.unlink()


def replace(kernel: Path) -> None:
    kernel.write_text("no kernel, but long enough to be one: " + "." * 64, encoding="utf-8")


def cut(kernel: Path) -> None:
    content = kernel.read_bytes()
    kernel.write_bytes(content[:0x2000])


CASES = [
    (remove, r"ingot: expected the file \ingot\kernel, found none"),
    (replace, "ingot: expected a little-endian ELF64 file, found something else"),
    (cut, "ingot: segment 0: expected bytes within a file of 8192, found "),
]


def console_of(command: list[str], log: Path, expected: str) -> str | None:
    """What the firmware's console showed, without colours and line ends; None once it held what is expected."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shown = ""
    try:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.2)
            text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
            shown = re.sub(r"\x1b\[[0-9;=?]*[A-Za-z]|[\r\n]", "", text)
            if expected in shown:
                return None
        return shown
    finally:
        process.kill()
        process.wait()


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    image = Path(sys.argv[1])
    if (missing := missing_tool(argparse.Namespace(loader="uefi"))) is not None:
        print(f"SKIPPED {image.name}: {missing}")
        return SKIPPED
    for damage, expected in CASES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            loading = make_volume(image, "", "", folder)
            damage(folder / "volume/ingot/kernel")
            command = emulator_command("q35", "max", 256, [*loading, "-serial", f"file:{folder}/console"])
            shown = console_of(command, folder / "console", expected)
        if shown is not None:
            print(f"FAILED {damage.__name__}: expected '{expected}' on the firmware's console, found '{shown[-400:]}'")
            return 1
        print(f"passed {damage.__name__}: {expected}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
