#!/usr/bin/env python3
"""Whether a sequence's logits have the same bits alone, in batches and however its prompt is cut, on a device: made-up models
of each format with few layers of the 1B shape, keys and values as f16 and q8_0 (`ingot verify model`).

usage: neighbours_on_a_gpu.py PATH_OF_INGOT_GPU [--device cuda] [--small] [unittest arguments]
"""

import json
import unittest

from device_cases import options, random_model, run_device_cases, tell

LAYERS = 2
SMALL = ["--prompt", "20", "--generate", "2", "--batches", "2,9"]


class Neighbours(unittest.TestCase):
    def prove(self, kind, caches, cuts):
        with random_model(kind, layers=LAYERS) as model:
            for cache in caches[-1:] if options.is_small else caches:
                with self.subTest(kind=kind, cache=cache):
                    sizes = [*SMALL, "--cuts", "1,7"] if options.is_small else ["--cuts", cuts]
                    words = ["verify", "model", model, "--cache", cache, *sizes, "--device", options.device, "--json"]
                    self.check(kind, cache, options.program.run(*words))

    def check(self, kind, cache, done):
        self.assertTrue(done.stdout, done.stderr)
        report = json.loads(done.stdout)
        rows = sum(row["compared"] for row in report["rows"])
        tell(f"{kind}, {cache} cache: {report['passed']} passed, {report['failed']} failed, {rows} rows of logits")
        different = [(row["what"], row["different"], row["first_difference"]) for row in report["rows"] if row["different"]]
        self.assertEqual((done.returncode, different), (0, []), done.stderr)
        self.assertGreater(rows, 0)

    def test_q4_0(self):
        self.prove("Q4_0", ("f16", "q8_0"), "1,64,512")

    def test_q8_0(self):
        self.prove("Q8_0", ("f16", "q8_0"), "1,64,512")

    def test_q4_k(self):
        self.prove("Q4_K", ("f16", "q8_0"), "1,64,512")

    def test_q6_k(self):
        self.prove("Q6_K", ("f16", "q8_0"), "1,64,512")

    def test_f16(self):
        self.prove("F16", ("f16",), "1,64,512")

    def test_bf16(self):
        self.prove("BF16", ("f16",), "1,64,512")


if __name__ == "__main__":
    run_device_cases(__doc__)
