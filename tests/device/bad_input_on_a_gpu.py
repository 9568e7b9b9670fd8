#!/usr/bin/env python3
"""What is wrong with a GPU's memory, number or work, on a real one: what the played driver of bad_devices_test.py cannot show.
Run by hand where there is a GPU; `make gpu` makes the programs.

usage: bad_input_on_a_gpu.py PATH_OF_INGOT_GPU [--smoke PATH_OF_GPU_SMOKE] [--model LARGE.gguf] [unittest arguments]

With a model of some gigabytes Ctrl-C and a file that becomes shorter are tried as well: a small one is there too soon. The file is copied.
"""

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "end_to_end"))
from gpu_memory import TakenMemory  # noqa: E402
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402

options = argparse.Namespace()
WORDS = ["-p", "Once upon a time", "-n", "8", "--temperature", "0"]


class RealGpu(unittest.TestCase):
    def setUp(self):
        self.program = Program(options.program)

    def run_model(self, *words):
        return self.program.run("run", *words, *WORDS, "--device", "cuda")

    def assert_refused(self, done, *parts):
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_it_says_what_the_cpu_says(self):
        on_gpu = self.run_model()
        self.assertEqual(on_gpu.returncode, 0, on_gpu.stderr)
        self.assertEqual(on_gpu.stdout, self.program.run("run", *WORDS).stdout)

    def test_a_number_beyond_the_gpus(self):
        done = self.program.run("run", *WORDS, "--device", "cuda:99")
        self.assert_refused(done, "found cuda:99: the driver shows ")

    def test_hidden_gpus(self):
        done = self.program.run("run", *WORDS, "--device", "cuda", CUDA_VISIBLE_DEVICES="")
        self.assert_refused(done, "expected an NVIDIA GPU, found NVIDIA's driver and no GPU")

    def test_memory_that_others_hold(self):
        needs = r"expected (\d+) bytes on .*, (\d+) for weights, (\d+) for a cache of \d+ tokens and (\d+) for passes"
        # The program's own context takes half of what is left, as measured on an H200.
        with TakenMemory(left=1 << 30) as taken:
            done = self.run_model("--context", str(1 << 20))
            self.assert_refused(done, "give a --context of at most ")
            self.assertRegex(done.stderr, needs)
            advised = re.search(r"--context of at most (\d+)", done.stderr).group(1)
            self.assertEqual(self.run_model("--context", advised).returncode, 0)
            self.assertGreater(taken.free_bytes(), 0)
        self.assertEqual(self.run_model().returncode, 0)

    def test_a_fault(self):
        if options.smoke is None:
            self.skipTest("expected --smoke, found none")
        done = Program(options.smoke).run("--fault")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"a fault is told as: .*step 'a step that fails': write_nowhere of copy_words_cuda, 2x1x1")


class LargeModel(unittest.TestCase):
    def setUp(self):
        if options.model is None:
            self.skipTest("expected --model, found none")

    def start(self, model):
        process = subprocess.Popen([options.program, "run", model, *WORDS, "--device", "cuda"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)  # fmt: skip
        self.addCleanup(process.kill)
        return process

    def wait_for_upload(self, process):
        """Until it has read some of the file: there is nothing else to be told by."""
        begin = time.monotonic()
        while time.monotonic() - begin < 60 and process.poll() is None:
            counted = Path(f"/proc/{process.pid}/io").read_text(encoding="utf-8")
            if int(re.search(r"rchar: (\d+)", counted).group(1)) > 256 << 20:
                return
        self.fail("expected an upload, found none")

    def assert_ended(self, process, part):
        out, said = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (1, ""), said)
        self.assertIn(part, said)

    def test_ctrl_c(self):
        process = self.start(options.model)
        self.wait_for_upload(process)
        process.send_signal(signal.SIGINT)
        self.assert_ended(process, "found that it was ended after ")

    def test_a_file_that_becomes_shorter(self):
        with tempfile.TemporaryDirectory() as folder:
            model = shutil.copy(options.model, Path(folder) / "model.gguf")
            process = self.start(model)
            self.wait_for_upload(process)
            with open(model, "r+b") as file:
                file.truncate(1 << 20)
            self.assert_ended(process, "it became shorter while it was read")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--smoke", type=Path)
    parser.add_argument("--model", type=Path)
    options, rest = parser.parse_known_args()
    options.program = options.program.resolve()
    options.smoke = options.smoke and options.smoke.resolve()
    run_cases([sys.argv[0], *rest])
