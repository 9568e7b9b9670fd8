#!/usr/bin/env python3
"""A cast server as a machine of its own: it boots, takes an address, answers HTTP, and ends by its power button.

usage: machine_server_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64.
"""

import http.client
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from run_cases import run_cases  # noqa: E402

INGOT = KERNELS = ENGINE = None
LIMIT_SECONDS = 150
GREEDY = {"prompt": "Once there was", "temperature": 0, "max_tokens": 8, "seed": 1}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Machine:
    """A booted image whose port 8080 is this machine's `port`. Ends with the block it is used in."""

    def __init__(self, image: str, *options: str):
        self.port = free_port()
        self.log = tempfile.TemporaryFile("w+")
        words = [INGOT, "boot", image, "--log", "--accelerator", "tcg", "--publish", f"{self.port}:8080", *options]
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def __enter__(self):
        end = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                if self.ask("GET", "/health")[0] == 200:
                    return self
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"expected a machine that answers, found:\n{self.text()}")
            time.sleep(0.3)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()

    def text(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {} if body is None else {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except http.client.HTTPException as error:  # the emulator accepts before its guest does
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)


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
        self.assertEqual(len(texts), 1, texts)

    def test_answers_at_a_fixed_address(self):
        with Machine(self.cast("--address", "192.0.2.10/24,192.0.2.1")) as machine:
            self.assertEqual(machine.ask("POST", "/v1/completions", GREEDY)[0], 200)
            self.assertIn("network: eth0 has 192.0.2.10/24\n", machine.text())

    def test_a_machine_without_a_card_says_so(self):
        image = self.cast()
        plan = json.loads(self.guest.run("boot", image, "--dry-run", "--json").stdout)["command"]
        words, passed = [], 0
        for index, word in enumerate(plan):  # all but the network
            passed = 2 if word in ("-netdev", "-device") and "net" in plan[index + 1] else passed
            if passed == 0:
                words.append(word)
            passed = max(0, passed - 1)
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        self.assertIn("found 'network'", done.stdout + done.stderr)


if __name__ == "__main__":
    INGOT, KERNELS, ENGINE = sys.argv[1:4]
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases([sys.argv[0], *sys.argv[4:]])
