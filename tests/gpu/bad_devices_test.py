#!/usr/bin/env python3
"""What is wrong with a GPU, its driver or its memory ends a command with one message: what was expected, found and to do.

usage: bad_devices_test.py PATH_OF_INGOT_GPU --driver PATH_OF_PLAYED_LIBCUDA --models FOLDER [unittest arguments]

The driver is played (played_libcuda.cc): it says what it is told to, and computes nothing.
"""

import argparse
import re
import shutil
import signal
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "end_to_end"))
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402

FAULT = "status=700"

options = argparse.Namespace()


class BadDevices(unittest.TestCase):
    def run_on(self, settings, *words, device="cuda", tokens=2):
        """`ingot-gpu run` with a driver of these settings."""
        return Program(options.program).run(
            "run", *words, "-p", "Once", "-n", tokens, "--temperature", "0", "--device", device,
            LD_LIBRARY_PATH=str(options.driver.parent), INGOT_PLAYED_LIBCUDA=settings,
        )  # fmt: skip

    def assert_refused(self, done, *parts):
        """Exit code 1, nothing on standard output, one line with these parts on the other."""
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_a_driver_that_does_as_it_should_is_heard(self):
        done = self.run_on("")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_old_driver_is_told_by_both_versions(self):
        done = self.run_on("version=12020")
        self.assert_refused(done, "found one for CUDA 12.2: update the driver")
        self.assertRegex(done.stderr, r"expected an NVIDIA driver for CUDA 1[2-9]\.\d or later")

    def test_no_gpu(self):
        for devices in (0, -1):  # none to count, and a driver that does not start for want of one
            self.assert_refused(self.run_on(f"devices={devices}"), "expected an NVIDIA GPU, found NVIDIA's driver and no GPU")

    def test_a_number_beyond_the_gpus(self):
        done = self.run_on("devices=2", device="cuda:2")
        self.assert_refused(done, "expected a GPU from cuda:0 to cuda:1, found cuda:2: the driver shows 2 GPUs")

    def test_a_chip_that_is_too_old(self):
        done = self.run_on("capability=75")
        self.assert_refused(done, "expected a GPU of compute capability 8.0 or later, found Fake GPU (cuda:0) with 7.5")

    def test_a_driver_that_fails_when_it_is_started(self):
        self.assert_refused(self.run_on("fail=cuInit " + FAULT), "while NVIDIA's driver was started", "cuInit")

    def test_too_little_memory_is_told_before_any_is_taken(self):
        done = self.run_on("free=1000")
        self.assert_refused(done, "found 1000 of 17179869184 free: give --split auto, end what else runs there, or take smaller weights")
        sizes = re.search(r"expected (\d+) bytes on Fake GPU, (\d+) for weights, (\d+) for a cache of (\d+) tokens and (\d+) "
                          r"for passes", done.stderr)  # fmt: skip
        self.assertIsNotNone(sizes, done.stderr)
        total, weights, cache, _, passes = map(int, sizes.groups())
        self.assertEqual(total, weights + cache + passes)
        self.assertGreater(min(weights, cache, passes), 0)

    def test_a_context_that_does_not_fit_is_told_with_one_that_does(self):
        needed = r"expected (\d+) bytes .* (\d+) for a cache of (\d+) tokens"
        total, cache, tokens = map(int, re.search(needed, self.run_on("free=1000").stderr).groups())
        free = total - cache // 2
        done = self.run_on(f"free={free}")
        self.assert_refused(done, "give a --context of at most ", ", or end what else runs there")
        advised = int(re.search(r"--context of at most (\d+)", done.stderr).group(1))
        self.assertTrue(0 < advised < tokens, done.stderr)
        self.assertEqual(self.run_on(f"free={free}", "--context", advised).returncode, 0)
        self.assertEqual(self.run_on(f"free={free}", "--context", 2 * advised).returncode, 1)

    def test_memory_that_others_took_in_between(self):
        for taken_before in (0, 1, 3):  # weights, then the cache, then passes
            done = self.run_on(f"fail=cuMemAlloc_v2 after={taken_before} status=2")
            self.assert_refused(done, " bytes of memory on cuda:0, found ", "CUDA_ERROR_OUT_OF_MEMORY")

    def test_a_fault_names_the_step_its_row_and_its_shapes(self):
        done = self.run_on("fail=cuLaunchKernelEx " + FAULT)
        self.assert_refused(done, " by cuda", "CUDA_ERROR_ILLEGAL_ADDRESS", "was launched")
        self.assertRegex(done.stderr, r"step '[^']+, [a-z]+\.[a-z_]+ by cuda\w*, \w+ \[\d+")
        uploads = self.run_on("fail=cuMemcpyHtoDAsync_v2 " + FAULT)
        self.assert_refused(uploads, "step 'upload': while bytes were copied to the device")

    def test_a_fault_that_comes_later_names_the_steps_between_which_it_was(self):
        # Where weights are there, nobody waits for a mark before the first token is.
        done = self.run_on("later=cuEventSynchronize " + FAULT)
        self.assert_refused(done, "CUDA_ERROR_ILLEGAL_ADDRESS", " launches from step '")

    def test_ctrl_c_while_weights_are_uploaded(self):
        done = self.run_on("interrupt=cuMemHostAlloc")
        self.assert_refused(done, "found that it was ended after ")

    def test_ctrl_c_while_a_pass_is_recorded_ends_the_program_as_between_two_tokens(self):
        for moment in ("cuStreamBeginCapture_v2", "cuGraphLaunch"):
            done = self.run_on(f"interrupt={moment}", tokens=6)
            self.assertEqual(done.returncode, -signal.SIGINT, done.stderr)
            self.assertEqual(done.stderr, "")

    def test_a_file_that_becomes_shorter_while_it_is_uploaded(self):
        with tempfile.TemporaryDirectory() as folder:
            model = shutil.copy(options.models / "tales.gguf", Path(folder) / "tales.gguf")
            self.assertEqual(self.run_on("", model).returncode, 0)
            done = self.run_on(f"shorten={model}", model)
            self.assert_refused(done, "it became shorter while it was read")


class SplitModels(unittest.TestCase):
    """With too little memory for all layers."""

    def run_on(self, settings):
        return Program(options.program).run(
            "run", "-p", "Once", "-n", "2", "--temperature", "0", "--device", "cuda", "--split", "auto",
            LD_LIBRARY_PATH=str(options.driver.parent), INGOT_PLAYED_LIBCUDA=settings,
        )  # fmt: skip

    def test_as_few_layers_stay_as_needed_and_a_note_says_how_many(self):
        whole = self.run_on("")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertNotIn("stay on the CPU", whole.stderr)
        refused = self.run_on("free=1000")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
        needed = int(re.search(r"expected (\d+) bytes on Fake GPU", refused.stderr).group(1))  # with all layers on the CPU
        self.assertNotIn("--split", refused.stderr)
        done = self.run_on(f"free={needed * 5 // 4}")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(r"\[(\d+) of (\d+) layers stay on the CPU: there is no room for them on Fake GPU\]", done.stderr)
        self.assertIsNotNone(found, done.stderr)
        self.assertTrue(0 < int(found.group(1)) <= int(found.group(2)))

    def test_without_a_device_there_is_nothing_to_split_with(self):
        for command in ("run", "serve"):
            done = Program(options.program).run(command, "--split", "auto")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn("--split auto: expected a --device to split with, found cpu", done.stderr)


class Memory(unittest.TestCase):
    def test_no_more_is_taken_than_the_file_and_a_little_whatever_the_context_may_come_to(self):
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "bytes"
            done = Program(options.program).run(
                "run", "-p", "Once", "-n", "8", "--temperature", "0", "--device", "cuda", "--context", "200000",
                LD_LIBRARY_PATH=str(options.driver.parent), INGOT_PLAYED_LIBCUDA=f"tell={told}",
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            file, most = (options.models / "tales.gguf").stat().st_size, int(told.read_text())
            self.assertGreater(most, file // 2)
            self.assertLessEqual(most, 1.03 * file + (160 << 20), "a page of each layer is among it")


class BadRows(unittest.TestCase):
    def verify(self, *words):
        return Program(options.program).run("verify", "norm.rms_norm", *words)

    def test_a_row_that_nobody_knows(self):
        done = self.verify("--variant", "tensor_cores", "--device", "emulated")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("tensor_cores", done.stderr)

    def test_a_row_of_another_place(self):
        done = self.verify("--variant", "cuda")
        self.assertNotEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--driver", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    options, rest = parser.parse_known_args()
    run_cases([sys.argv[0], *rest])
