#!/usr/bin/env python3
"""That bench/gpu/all runs, with a tiny model on a GPU that the CPU plays: it is run by hand, where minutes are dear.

usage: benchmarks_test.py PATH_OF_INGOT_GPU [unittest arguments]
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from run_cases import run_cases  # noqa: E402

program = Path()
# Plays llama-bench.
PEER = """#!/usr/bin/env python3
import json, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
print(json.dumps([{"n_gen": 0, "avg_ts": 2.0}, {"n_gen": int(words["-n"]), "avg_ts": 4.0}]))
"""


class Benchmarks(unittest.TestCase):
    def run_all(self, folder, *words):
        report = Path(folder) / "report.json"
        command = [sys.executable, "-B", ROOT / "bench/gpu/all", "--ingot", program, "--device", "emulated", "--models", "tiny",
                   "--folder", folder, "--json", report, *words]  # fmt: skip
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        return done, json.loads(report.read_text(encoding="utf-8")) if report.exists() else None

    def test_models_of_every_type_are_timed_beside_a_peer(self):
        with tempfile.TemporaryDirectory() as folder:
            peer = Path(folder) / "llama-bench"
            peer.write_text(PEER, encoding="utf-8")
            peer.chmod(0o755)
            types = ("Q4_K_M", "Q8_0", "F16", "BF16")
            done, report = self.run_all(folder, "--types", ",".join(types), "--llama-bench", peer)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([one["model"] for one in report["models"]], [f"tiny {kind}" for kind in types for _ in range(2)])
            for one in report["models"]:
                self.assertAlmostEqual(one["decode_ratio"], one["decode_tokens_per_second"] / 4)
                self.assertGreater(one["device_bytes"], 0)
            # Rows need PyTorch, and that a GPU; models need neither.
            self.assertFalse([left for left in report["left_out"] if "tiny" in left["what"]], report["left_out"])
            self.assertIn("| tiny BF16 | 16 |", done.stdout)
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ["llama-bench", "report.json"])

    def test_what_goes_wrong_is_told_and_the_others_go_on(self):
        with tempfile.TemporaryDirectory() as folder:
            done, report = self.run_all(folder, "--types", "Q9,Q8_0")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({one["model"] for one in report["models"]}, {"tiny Q8_0"})
            self.assertIn("left out: tiny Q9: ", done.stdout)

    def test_a_shape_that_is_none_is_refused(self):
        done, _ = self.run_all("/tmp", "--models", "2b")
        self.assertEqual(done.returncode, 2)
        self.assertIn("found 2b", done.stderr)


if __name__ == "__main__":
    program = Path(sys.argv[1]).resolve()
    run_cases([sys.argv[0], *sys.argv[2:]])
