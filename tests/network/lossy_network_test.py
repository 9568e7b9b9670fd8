#!/usr/bin/env python3
"""Streams between a guest and this machine's own TCP, both ways at once, through a bad network: they arrive whole.

usage: lossy_network_test.py INGOT KERNELS PROGRAM [--mebibytes COUNT]

PROGRAM: tests/programs/byte_streams. In `make test` 2 MiB go each way; longer streams are for outside of it.
"""

import argparse
import dataclasses
import hashlib
import sys
import unittest
from pathlib import Path

from lossy_link import Weather
from own_network import enter_namespace
from stream_guest import StreamGuest, ingot_words, random_content

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "end_to_end"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from run_cases import run_cases  # noqa: E402

ARGUMENTS = None
BAD = Weather(reordering=0.02, doubling=0.01, corruption=0.001, seed=3)


class LossyNetwork(unittest.TestCase):
    def check_streams(self, guest: StreamGuest, loss: float) -> None:
        content = random_content(int(loss * 1000), ARGUMENTS.mebibytes << 20)
        guest.link.set_weather(dataclasses.replace(BAD, loss=loss))
        came, seconds = guest.exchange(content, len(content))
        counts = guest.link.set_weather(Weather())
        self.assertEqual(hashlib.sha256(came).hexdigest(), hashlib.sha256(content).hexdigest(), f"{len(came)} bytes")
        for way, of_way in counts.items():
            print(f"{loss:.0%} lost, {way}: {of_way}")
            for what, count in dataclasses.asdict(of_way).items():
                self.assertGreater(count, 0, f"frames {what} on their way {way}")
        print(f"{loss:.0%} lost: {ARGUMENTS.mebibytes} MiB each way in {seconds:.1f} s")

    def test_streams_arrive_whole(self):
        guest = Guest(ARGUMENTS.ingot, ARGUMENTS.kernels)
        self.addCleanup(guest.close)
        with StreamGuest(ingot_words(guest, ARGUMENTS.program, "microvm")) as streams:
            for loss in (0.01, 0.05):
                with self.subTest(loss=loss):
                    self.check_streams(streams, loss)
            self.assertIn("exit 0", streams.end())


def main() -> None:
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ingot", "kernels", "program"):
        parser.add_argument(name)
    parser.add_argument("--mebibytes", type=int, default=2)
    ARGUMENTS = parser.parse_args()
    if (missing := missing_tool() or enter_namespace()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases(sys.argv[:1])


if __name__ == "__main__":
    main()
