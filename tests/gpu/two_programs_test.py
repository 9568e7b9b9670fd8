#!/usr/bin/env python3
"""ingot and ingot-gpu are one to their user: ingot becomes the program beside it where a command wants a GPU.

usage: two_programs_test.py PATH_OF_INGOT [--gpu PATH_OF_INGOT_GPU] [unittest arguments]

Neither needs a GPU here: both must start without one, and say so.
"""

import argparse
import ctypes
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "end_to_end"))
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402

# Repeats its arguments, one a line.
STAND_IN = '#!/bin/sh\nfor word in "$@"; do echo "$word"; done\nexit 23\n'
C_LIBRARY = re.compile(r"\s*(linux-vdso|libc\.so|libm\.so|/lib(64)?/ld-linux)")

ingot = Path()
ingot_gpu = None


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


class Ingot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = Program(shutil.copy(ingot, self.folder / "ingot"))

    def put_stand_in(self, mode=0o755):
        beside = self.folder / "ingot-gpu"
        beside.write_text(STAND_IN, encoding="utf-8")
        beside.chmod(mode)

    def test_without_ingot_gpu_it_fails_and_says_what_builds_it(self):
        done = self.program.run("machine", "--device", "cuda")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"found no {self.folder}/ingot-gpu: `make gpu` builds it", done.stderr)

    def test_it_becomes_the_program_beside_it_with_all_arguments(self):
        self.put_stand_in()
        words = ["machine", "--json", "--device", "cuda", "--measure"]
        done = self.program.run(*words)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (23, words))
        done = self.program.run("machine", "--device=cuda")
        self.assertEqual((done.returncode, done.stdout), (23, "machine\n--device=cuda\n"))

    def test_it_becomes_it_where_a_side_of_a_comparison_wants_a_gpu(self):
        self.put_stand_in()
        for sides in (["device=cpu", "device=cuda"], ["threads=1,device=emulated", "threads=1"]):
            words = ["bench", "model", "--compare", *sides]
            done = self.program.run(*words)
            self.assertEqual((done.returncode, done.stdout.splitlines()), (23, words))
        done = self.program.run("bench", "model", "--compare", "threads=1", "device=gpu")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("device=: expected cpu, cuda, cuda:1 or the like, emulated, accelerator:SOCKET", done.stderr)

    def test_it_is_found_by_where_the_program_lies_not_by_its_name(self):
        self.put_stand_in()
        other = self.folder / "elsewhere"
        other.mkdir()
        (other / "tool").symlink_to(self.folder / "ingot")
        done = Program(other / "tool").run("machine", "--device", "cuda")
        self.assertEqual(done.returncode, 23)

    def test_one_that_may_not_be_run_is_named(self):
        self.put_stand_in(mode=0o644)
        done = self.program.run("machine", "--device", "cuda")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ingot-gpu, found Permission denied", done.stderr)

    def test_a_wrong_line_is_refused_before(self):
        self.put_stand_in()
        for words in (["machine", "--device", "cuda", "--nonsense"], ["machine", "--device", "tpu"], ["machine", "--device"]):
            done = self.program.run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)

    def test_help_and_the_cpu_stay_here(self):
        self.put_stand_in()
        self.assertEqual(self.program.run("machine", "--device", "cuda", "--help").returncode, 0)
        done = self.program.run("machine", "--device", "cpu", XDG_CACHE_HOME=str(self.folder))
        self.assertEqual(done.returncode, 0)
        self.assertIn("gpus       not looked for: ingot machine --device cuda shows them", done.stdout)


class IngotGpu(unittest.TestCase):
    def setUp(self):
        if ingot_gpu is None:
            self.skipTest("expected ingot-gpu, found that no nvcc was there to build it: make gpu")
        self.program = Program(ingot_gpu)

    def test_of_libraries_it_needs_the_c_library_alone(self):
        listed = subprocess.run(["ldd", ingot_gpu], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line for line in listed.splitlines() if not C_LIBRARY.match(line)], [], listed)

    def test_it_is_the_same_program(self):
        for words in (["--version"], ["--help"], ["machine", "--help"]):
            self.assertEqual(self.program.run(*words).stdout, Program(ingot).run(*words).stdout)

    def test_a_model_says_on_a_device_what_it_says_on_the_cpu(self):
        for cache in ("f32", "f16", "q8_0"):
            words = ["run", "-p", "Once upon a time", "-n", "12", "--temperature", "0", "--cache", cache, "--json"]
            on_host = json.loads(self.program.run(*words).stdout)
            on_device = json.loads(self.program.run(*words, "--device", "emulated").stdout)
            self.assertEqual(on_device["text"], on_host["text"])
        done = self.program.run("run", "--device", "emulation")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_without_a_driver_it_starts_and_says_so(self):
        if has_driver():
            self.skipTest("expected a machine without NVIDIA's driver, found one with it")
        with tempfile.TemporaryDirectory() as folder:
            done = self.program.run("machine", XDG_CACHE_HOME=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"gpus       none: expected NVIDIA's driver, found libcuda\.so\.1: ")
            document = json.loads(self.program.run("machine", "--json", XDG_CACHE_HOME=folder).stdout)
            self.assertEqual(document["devices"], [])
            self.assertIn("libcuda.so.1", document["devices_error"])
        for path in (ingot_gpu, ingot):  # one by way of the other
            done = Program(path).run("machine", "--device", "cuda")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("expected NVIDIA's driver, found libcuda.so.1: ", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot", type=Path)
    parser.add_argument("--gpu", type=Path)
    arguments, rest = parser.parse_known_args()
    ingot, ingot_gpu = arguments.ingot, arguments.gpu
    run_cases([sys.argv[0], *rest])
