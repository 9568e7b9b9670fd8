#!/usr/bin/env python3
"""How soon a model on a GPU says its first token, how long a pass takes to record, and how much memory it takes there.

usage: start_on_a_gpu.py PATH_OF_INGOT_GPU [--device cuda] [--small] [--shape 1b] [--type Q4_K_M] [unittest arguments]

| what | at most |
|---|---|
| the program's start to its first token, the file in the page cache | 1.3 x (a context + the file at the rate of pinned memory) |
| recording all passes of a run | 30 ms |
| the GPU's memory while a server rests behind a request | 1.03 x the file + pages in use + 160 MiB + a context |
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
import unittest

from device_cases import options, random_model, run_device_cases, tell
from gpu_memory import Gpu, OtherContext
from served import Server

ROUNDS = 5
MOST_OF_THE_LEAST_START = 1.3
MOST_RECORDING_SECONDS = 0.030
CONTEXT = 512  # tokens
REST_BYTES = 160 << 20


def json_of(*words, **changes):
    done = options.program.run(*words, "--device", options.device, "--json", **changes)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Start(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = cls.enterClassContext(random_model(options.extra.type, shape=options.extra.shape))
        cls.bytes = os.path.getsize(cls.model)

    def require_times(self):
        if not options.has_times:
            self.skipTest("expected a GPU, found one that the CPU plays")

    def test_first_token(self):
        seconds = []
        for _ in range(ROUNDS if options.has_times else 1):
            seconds.append(self.seconds_to_the_first_token())
        self.require_times()
        contexts = []
        for _ in range(ROUNDS):
            with OtherContext() as other:
                contexts.append(other.seconds)
        with tempfile.TemporaryDirectory() as folder:
            rate = json_of("machine", XDG_CACHE_HOME=folder)["devices"][0]["peaks"]["upload_bytes_per_second"]
        context, found = statistics.median(contexts), statistics.median(seconds)
        least = context + self.bytes / rate
        tell(f"first token of {self.bytes / 1e9:.2f} GB after {found:.3f} s, {found / least:.2f} of the least: a context takes "
             f"{context:.3f} s, upload at {rate / 1e9:.1f} GB/s {self.bytes / rate:.3f} s")  # fmt: skip
        self.assertLessEqual(found, MOST_OF_THE_LEAST_START * least)

    def seconds_to_the_first_token(self):
        words = ["run", self.model, "-p", "then", "-n", "1", "--context", CONTEXT, "--device", options.device]
        begin = time.monotonic()
        with subprocess.Popen([*options.program.command, *map(str, words)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as run:
            self.assertTrue(run.stdout.read(1))  # the prompt comes with the first token
            seconds = time.monotonic() - begin
            run.stdout.read()
        self.assertEqual(run.returncode, 0)
        return seconds

    def test_recording(self):
        prompt, generate = ("8", "3") if options.is_small else ("512", "32")
        report = json_of("bench", "model", self.model, "--prompt", prompt, "--generate", generate, "--repeat", "2")
        self.assertGreater(report["capture_seconds"], 0)
        tell(f"recording all passes of a run: {1000 * report['capture_seconds']:.1f} ms; weights were there after "
             f"{report['upload_seconds']:.3f} s, {self.bytes / report['upload_seconds'] / 1e9:.1f} GB/s")  # fmt: skip
        if options.has_times:
            self.assertLessEqual(report["capture_seconds"], MOST_RECORDING_SECONDS)

    def test_memory(self):
        self.require_times()
        gpu = Gpu()
        free = gpu.free_bytes()
        with OtherContext():
            context = free - gpu.free_bytes()
        pages = json_of("explain", self.model, "--context", str(CONTEXT))["memory"]["sequence_bytes"]
        with Server(options.program, self.model, "--device", options.device, "--context", str(CONTEXT)) as server:
            fields = {"prompt": list(range(CONTEXT - 64)), "max_tokens": 64, "ignore_eos": True}
            self.assertEqual(server.post("/v1/completions", fields).status, 200)
            used = free - gpu.free_bytes()
        rest = used - self.bytes - pages - context
        tell(f"memory: {used >> 20} MiB, of which the file has {self.bytes >> 20}, pages {pages >> 20}, a context "
             f"{context >> 20}, and {rest >> 20} are the rest")  # fmt: skip
        self.assertLessEqual(used, 1.03 * self.bytes + pages + REST_BYTES + context)


if __name__ == "__main__":
    run_device_cases(__doc__, ("--shape", "1b or 8b", "1b"), ("--type", "as bench/gpu/random_model has them", "Q4_K_M"))
