#!/usr/bin/env python3
"""A cast server as a machine of its own: it boots, takes an address, answers HTTP, and ends by its power button.

usage: machine_server_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from machine import Machine, emulator_words  # noqa: E402
from run_cases import run_cases  # noqa: E402
from running_machine import LIMIT_SECONDS  # noqa: E402

INGOT = KERNELS = ENGINE = None
GREEDY = {"prompt": "Once there was", "temperature": 0, "max_tokens": 8, "seed": 1}


def joined_lines(log: str) -> str:
    """What the kernel said, whose long lines go on in the next."""
    return " ".join(log.split())


class MachineServer(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(INGOT, KERNELS)
        self.addCleanup(self.guest.close)

    def cast(self, *words: str) -> str:
        done = self.guest.cast("--serve", "--engine", ENGINE, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.guest.path("image")

    def check(self, machine: Machine) -> str:
        status, body = machine.ask("POST", "/v1/completions", GREEDY)
        self.assertEqual(status, 200, body)
        text = json.loads(body)["choices"][0]["text"]
        status, stream = machine.ask("POST", "/v1/completions", GREEDY | {"stream": True})
        self.assertEqual(status, 200, stream)
        events = [line.removeprefix("data: ") for line in stream.splitlines() if line.startswith("data: ")]
        self.assertEqual(events[-1], "[DONE]")
        self.assertEqual("".join(json.loads(event)["choices"][0]["text"] for event in events[:-1]), text)
        # Longer than any window, both ways.
        status, body = machine.ask("POST", "/tokenize", {"content": "tale " * 60_000})
        self.assertEqual(status, 200, body[:200])
        self.assertGreater(len(json.loads(body)["tokens"]), 50_000)
        for _ in range(20):
            self.assertEqual(machine.ask("GET", "/v1/models")[0], 200)
        self.assertIn("<!doctype html", machine.ask("GET", "/")[1].lower())
        return text

    def test_answers_alike_on_both_machines_and_ends_by_its_button(self):
        image = self.cast()
        texts = set()
        for options in (["--machine", "microvm"], ["--machine", "q35", "--cpus", "2"]):
            with self.subTest(options=options), Machine(image, *options) as machine:
                texts.add(self.check(machine))
                self.assertEqual(machine.end(), 0, machine.text())
                log = machine.text()
                self.assertIn("network: eth0 has 10.0.2.15/24\n", log)
                self.assertIn("power button: pressed\n", log)
                self.assertIn("exit 0\n", log)
                self.assertNotIn("leak:", log)
        self.assertEqual(len(texts), 1, texts)

    def test_answers_at_a_fixed_address(self):
        with Machine(self.cast("--address", "192.0.2.10/24,192.0.2.1")) as machine:
            self.assertEqual(machine.ask("POST", "/v1/completions", GREEDY)[0], 200)
            self.assertIn("network: eth0 has 192.0.2.10/24\n", machine.text())

    def test_answers_where_the_command_line_names_the_devices(self):
        # Behind the program's arguments, as Firecracker does it, too: they are none of these.
        words = ["serve", "--host", "0.0.0.0", "--sequences", "3"]
        with Machine(self.cast(), "--", *words, without_acpi=True) as machine:
            self.assertEqual(machine.ask("POST", "/v1/completions", GREEDY)[0], 200)
            self.assertEqual(json.loads(machine.ask("GET", "/props")[1])["total_slots"], 3)
            log = joined_lines(machine.text())
            self.assertRegex(log, r"--sequences 3 virtio_mmio\.device=512@0x[0-9a-f]+:\d+")
            self.assertIn("network: eth0 has 10.0.2.15/24", log)

    def test_a_machine_without_a_card_says_so(self):
        plan = emulator_words(INGOT, self.cast())
        words, passed = [], 0
        for index, word in enumerate(plan):  # all but the network
            passed = 2 if word in ("-netdev", "-device") and "net" in plan[index + 1] else passed
            if passed == 0:
                words.append(word)
            passed = max(0, passed - 1)
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        log = joined_lines(done.stdout + done.stderr)
        self.assertIn("found 'network', which this machine does not have", log)


if __name__ == "__main__":
    INGOT, KERNELS, ENGINE = sys.argv[1:4]
    Machine.ingot = INGOT
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases([sys.argv[0], *sys.argv[4:]])
