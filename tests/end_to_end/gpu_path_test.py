#!/usr/bin/env python3
"""docs/learn/gpu-path.md against what it speaks of: the lesson's bytes, alone and through an accelerator, and what ptxas makes of the PTX.

usage: gpu_path_test.py LESSON PATH_OF_INGOT SOURCES PTXAS|'' [unittest arguments]
"""

import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from run_cases import run_cases

LIMIT_SECONDS = 60
BLOCK = r"^```{} {}\n(.*?)^```$"
CHIPS = ("sm_80", "sm_90a")
PARAMETER_BYTES = 28  # three addresses and a count
# The lower twelve bits of an instruction's 128: a load and a store of device memory, and a sum of two registers.
EXIT = 0x94D
INSTRUCTIONS = {0x981: "load", 0x221: "sum", 0x986: "store"}

lesson = ingot = ptxas = ""
sources = Path()
page = ""


def quoted(language, of):
    return re.findall(BLOCK.format(language, re.escape(of)), page, re.MULTILINE | re.DOTALL)


def run_lesson(*words):
    return subprocess.run([lesson, *words], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)


def sections_of(elf: bytes) -> dict[str, bytes]:
    """Of a 64-bit little-endian ELF file, by name."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    entry, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + index * entry) for index in range(count)]
    first = headers[names][4]
    return {elf[first + name : elf.index(b"\0", first + name)].decode(): elf[begin : begin + size]
            for name, _, _, _, begin, size in headers}  # fmt: skip


def described(chip: str, cubin: bytes) -> str:
    """A line of the page, of what the assembler made."""
    sections = sections_of(cubin)
    end = len(sections[".nv.constant0.vector_sum"])
    code = sections[".text.vector_sum"]
    kinds = [INSTRUCTIONS.get(word & 0xFFF) for word, _ in struct.iter_unpack("<QQ", code)]
    order = " ".join(kind for kind in kinds if kind)
    length = 1 + max(index for index, (word, _) in enumerate(struct.iter_unpack("<QQ", code)) if word & 0xFFF == EXIT)
    return f"{chip + ':':8}parameters from {end - PARAMETER_BYTES:#x} to {end:#x} of the constants; {length} instructions, among them {order}\n"


class Page(unittest.TestCase):
    def test_it_quotes_all_that_the_lesson_prints_and_an_accelerator_takes_the_bytes(self):
        alone = run_lesson()
        self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
        blocks = quoted("text", "from=learn_7_one_sum_as_bytes")
        # All but the last part, which tells that no accelerator was named.
        self.assertEqual(alone.stdout.split("\n\n")[:-1], [block.removesuffix("\n") for block in blocks[:-1]])
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/accelerator"
            broker = subprocess.Popen([ingot, "accelerator", "--socket", path, "--threads", "1", "--json"],
                                      stdout=subprocess.PIPE, text=True)  # fmt: skip
            try:
                self.assertIn("listening", broker.stdout.readline())
                for _ in range(20):  # the worker looks, or sleeps
                    through = run_lesson(f"accelerator:{path}")
                    self.assertEqual(through.returncode, 0, through.stdout + through.stderr)
                    self.assertEqual(through.stdout, "\n".join(blocks))
            finally:
                broker.terminate()
                broker.communicate(timeout=LIMIT_SECONDS)

    def test_the_lesson_says_what_is_wrong(self):
        self.assertEqual(run_lesson("cuda").returncode, 2)
        nobody = run_lesson("accelerator:/nowhere/at/all")
        self.assertEqual(nobody.returncode, 1)
        self.assertIn("expected somebody who listens at /nowhere/at/all", nobody.stderr)

    def test_its_ptx_is_the_files(self):
        file = "gpu_path/vector_sum.ptx"
        self.assertEqual(quoted("ptx", f"file={file}"), [(sources / "docs/learn" / file).read_text(encoding="utf-8")])

    def test_its_ptx_becomes_the_instructions_that_it_tells(self):
        if not ptxas:
            self.skipTest("SKIPPED: expected ptxas, which `make gpu` fetches")
        told = ""
        with tempfile.TemporaryDirectory() as folder:
            for chip in CHIPS:
                cubin = Path(folder) / chip
                subprocess.run([ptxas, f"-arch={chip}", str(sources / "docs/learn/gpu_path/vector_sum.ptx"), "-o", str(cubin)],
                               check=True, timeout=LIMIT_SECONDS)  # fmt: skip
                told += described(chip, cubin.read_bytes())
        self.assertEqual(quoted("text", "from=ptxas"), [told])


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    lesson, ingot, sources, ptxas = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    del sys.argv[1:5]
    page = (sources / "docs/learn/gpu-path.md").read_text(encoding="utf-8")
    run_cases(sys.argv)
