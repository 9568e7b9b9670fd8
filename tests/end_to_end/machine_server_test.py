#!/usr/bin/env python3
"""A cast server as a machine of its own: it boots, takes an address, answers HTTP, and ends by its power button.

usage: machine_server_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64.
"""

import json
import subprocess

from machine import Machine, ServerMachines, emulator_words, run_machine_tests
from running_machine import LIMIT_SECONDS
from served import Client

GREEDY = {"prompt": "Once there was", "temperature": 0, "max_tokens": 8, "seed": 1}


def joined_lines(log: str) -> str:
    """What the kernel said, whose long lines go on in the next."""
    return " ".join(log.split())


class MachineServer(ServerMachines):
    def complete(self, client: Client) -> str:
        answer = client.post("/v1/completions", GREEDY)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["choices"][0]["text"]

    def check(self, client: Client) -> str:
        text = self.complete(client)
        events = client.events("/v1/completions", GREEDY)
        self.assertEqual(events[-1], "[DONE]")
        self.assertEqual("".join(json.loads(event)["choices"][0]["text"] for event in events[:-1]), text)
        # Longer than any window, both ways.
        answer = client.post("/tokenize", {"content": "tale " * 60_000})
        self.assertEqual(answer.status, 200, answer.body[:200])
        self.assertGreater(len(answer.json()["tokens"]), 50_000)
        for _ in range(20):
            self.assertEqual(client.get("/v1/models").status, 200)
        self.assertIn("<!doctype html", client.get("/").body.lower())
        return text

    def test_answers_alike_on_both_machines_and_ends_by_its_button(self):
        image = self.cast()
        texts = set()
        for options in (["--machine", "microvm"], ["--machine", "q35", "--cpus", "2"]):
            with self.subTest(options=options), Machine(image, *options) as machine:
                texts.add(self.check(machine.client))
                # Kernel and program write letter by letter to the same place: what is said last shall have been said.
                machine.wait_for_text("GET / 200 ")
                self.assertEqual(machine.end(), 0, machine.text())
                log = machine.text()
                self.assertIn("network: eth0 has 10.0.2.15/24\n", log)
                self.assertIn("power button: pressed\n", log)
                self.assertIn("exit 0\n", log)
                self.assertNotIn("leak:", log)
        self.assertEqual(len(texts), 1, texts)

    def test_answers_at_a_fixed_address(self):
        with Machine(self.cast("--address", "192.0.2.10/24,192.0.2.1")) as machine:
            self.complete(machine.client)
            self.assertIn("network: eth0 has 192.0.2.10/24\n", machine.text())

    def test_answers_where_the_command_line_names_the_devices(self):
        # Behind the program's arguments, as Firecracker does it, too: they are none of these.
        words = ["serve", "--host", "0.0.0.0", "--sequences", "3"]
        with Machine(self.cast(), "--", *words, without_acpi=True) as machine:
            self.complete(machine.client)
            self.assertEqual(machine.client.get("/props").json()["total_slots"], 3)
            log = joined_lines(machine.text())
            self.assertRegex(log, r"--sequences 3 virtio_mmio\.device=512@0x[0-9a-f]+:\d+")
            self.assertIn("network: eth0 has 10.0.2.15/24", log)

    def test_a_machine_without_a_card_says_so(self):
        plan = emulator_words(Machine.ingot, self.cast())
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
    run_machine_tests()
