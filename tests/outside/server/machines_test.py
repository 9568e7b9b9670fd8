#!/usr/bin/env python3
"""OpenAI's client and a browser against cast servers: on both machines, over both networks, by DHCP and without.

usage: machines_test.py INGOT KERNELS ENGINE [unittest arguments]; ENGINE is `ingot` for x86_64

Each boot runs of openai_test.py what chats and embeds, or more; two of them page_check.py too. Each of these may be
skipped for want of packages; the whole is, where there can be no network namespace.
"""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from peers import KEY, SKIPPED, TEMPLATE, TESTS, make_embedder  # and with it where the others lie
from address_servers import DhcpServer
from machine import Machine, ServerMachines, run_machine_tests
from own_network import Tap, enter_namespace

HOST, GUEST = "192.0.2.1", "192.0.2.10"
LEASE = (1800, 3150, 3600)
ALL_BUT_CROWDS = ("Chats", "Completions", "Embeddings", "Models", "Errors", "Leaving")  # which `user` resets


class Machines(ServerMachines):
    def file(self, name: str, text: str) -> str:
        path = Path(self.guest.path(name))
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return str(path)

    def embedder(self) -> str:
        made = Path(self.guest.path("embedder.gguf"))
        if not made.exists():
            folder = make_embedder(TESTS / "goldens", Path(self.guest.path("bert")))
            done = self.guest.run("quantize", str(folder), str(made), "F32")
            self.assertEqual(done.returncode, 0, done.stderr)
        return str(made)

    def cast(self, *words: str) -> str:
        template = self.file("template", TEMPLATE)
        served = ["--alias", "talker", "--alias", "embedder", "--template", "/template", "--sequences", "4"]
        return super().cast(
            str(TESTS.parent / "models" / "tales.gguf"), self.embedder(), "--api-key-file", self.file("keys", KEY + "\n"),
            "--file", f"{template}=/template", *(f"--arg={word}" for word in served), *words,
        )  # fmt: skip

    def run_client(self, script: Path, *words: str) -> None:
        command = [sys.executable, "-B", str(script), *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode == SKIPPED:
            self.skipTest(next(line for line in said.splitlines() if line.startswith("SKIPPED")))
        self.assertEqual(done.returncode, 0, said)
        print(f"{script.name}: {done.stdout.splitlines()[-1]}")

    def check(self, machine: str, network: str, address: str, cases=("Chats", "Embeddings"), page: bool = False):
        image = self.cast(*(("--address", f"{GUEST}/24,{HOST}") if address == "fixed" else ()))
        with ExitStack() as stack:
            options, host = ["--machine", machine], None
            if network == "tap":
                tap = Tap("clients0")
                stack.callback(tap.remove)
                tap.add_address(HOST, 24)
                options, host = [*options, "--tap", tap.name], GUEST
                if address == "dhcp":
                    stack.enter_context(DhcpServer(tap, HOST, GUEST, LEASE))
            booted = stack.enter_context(Machine(image, *options, host=host))
            url = f"http://{booted.client.host}:{booted.client.port}"
            self.run_client(TESTS / "outside" / "server" / "openai_test.py", url, *cases)
            if page:
                self.run_client(TESTS / "server" / "page_check.py", url, "--key", KEY, "RealAnswers")
            self.assertEqual(booted.end(), 0, booted.text())

    def test_microvm_user_dhcp(self):
        self.check("microvm", "user", "dhcp", cases=ALL_BUT_CROWDS, page=True)

    def test_microvm_user_fixed(self):
        self.check("microvm", "user", "fixed")

    def test_microvm_tap_dhcp(self):
        self.check("microvm", "tap", "dhcp")

    def test_microvm_tap_fixed(self):
        self.check("microvm", "tap", "fixed", cases=())  # all of them

    def test_q35_user_dhcp(self):
        self.check("q35", "user", "dhcp")

    def test_q35_user_fixed(self):
        self.check("q35", "user", "fixed")

    def test_q35_tap_dhcp(self):
        self.check("q35", "tap", "dhcp")

    def test_q35_tap_fixed(self):
        self.check("q35", "tap", "fixed", page=True)


if __name__ == "__main__":
    run_machine_tests(missing=enter_namespace())
