#!/usr/bin/env python3
"""A cast server's answers are those of the same program on Linux, byte for byte: chats, streams, probabilities, drawn
words and vectors, with as many threads as CPUs.

usage: machine_identity_test.py INGOT KERNELS ENGINE [--all] [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64, which runs under qemu-user with the CPU that `ingot boot` has, so that both have the same
instructions: `system_fingerprint` sums those up. Two machines are booted, with --all every kind with 1, 2 and 4 CPUs.
Only names and times of answers are not compared.
"""

import re
import sys

from machine import Machine, ServerMachines, TwoModels, run_machine_tests
from served import OPENING, Client, Server
from story_test import USER_EMULATOR, emulated

MACHINES = [("microvm", 1), ("q35", 2)]
ALL_MACHINES = [(machine, cpus) for cpus in (1, 2, 4) for machine in ("microvm", "q35")]

CHAT = {"model": "talker", "messages": [{"role": "user", "content": OPENING}], "temperature": 0, "max_tokens": 16}
TEXT = {"model": "talker", "prompt": OPENING, "max_tokens": 16}
REQUESTS = {
    "chat": ("/v1/chat/completions", CHAT),
    "stream": ("/v1/chat/completions", {**CHAT, "stream": True, "stream_options": {"include_usage": True}}),
    "probabilities": ("/v1/completions", {**TEXT, "temperature": 0, "logprobs": 5, "echo": True}),
    "drawn": ("/v1/completions", {**TEXT, "temperature": 0.8, "seed": 7, "n": 2}),
    "drawn stream": ("/v1/completions", {**TEXT, "temperature": 0.8, "stream": True, "logprobs": 2}),
    "vectors": ("/v1/embeddings", {"model": "embedder", "input": ["a b c", "x y"]}),
}  # fmt: skip

# "id":"cmpl-...", "created":1763..., "prompt_ms":1.5, "predicted_per_second":40.1; what keeps a slow stream alive.
NAMES_AND_TIMES = re.compile(r'"id":"[^"]*"|"created":\d+|"\w+_(?:ms|per_second)":[-+.e\d]+|: ping\n\n')
# The length counts the digits of times.
OTHER_HEADERS = {"date", "content-length"}


def comparable(client: Client, path: str, fields: dict) -> str:
    answer = client.post(path, fields)
    head = [f"{name}: {value}" for name, value in answer.headers.items() if name.lower() not in OTHER_HEADERS]
    return "\n".join([str(answer.status), *head, "", NAMES_AND_TIMES.sub("", answer.body)])


class MachineIdentity(ServerMachines):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.models = TwoModels(self.folder)

    def options(self, threads: int) -> list[str]:
        return [f"--threads={threads}", "--deterministic", "--seed=7", "--context=256", "--cache-memory=16M"]

    def answers_of(self, client: Client) -> dict[str, str]:
        return {name: comparable(client, path, fields) for name, (path, fields) in REQUESTS.items()}

    def answers_on_linux(self, threads: int) -> dict[str, str]:
        with Server(emulated(self.engine), *self.models.words(), *self.options(threads)) as server:
            return self.answers_of(server)

    def test_answers_are_those_of_the_program_on_linux(self):
        image = self.cast("--memory", "256M", *self.models.files())
        on_linux = {cpus: self.answers_on_linux(cpus) for cpus in sorted({cpus for _, cpus in MACHINES})}
        for answers in on_linux.values():
            for name, text in answers.items():
                self.assertTrue(text.startswith("200\n"), f"{name}: {text}")
        for machine, cpus in MACHINES:
            words = ["--machine", machine, "--cpus", str(cpus), "--", "serve", *self.models.words(in_image=True)]
            words += ["--host", "0.0.0.0", *self.options(cpus)]
            with self.subTest(machine=machine, cpus=cpus), Machine(image, *words) as booted:
                for name, text in self.answers_of(booted.client).items():
                    self.assertEqual(text, on_linux[cpus][name], name)
                self.assertEqual(booted.end(), 0, booted.text())
                print(f"equal on {machine}, CPUs {cpus}: {', '.join(REQUESTS)}", flush=True)


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        MACHINES = ALL_MACHINES
    run_machine_tests(USER_EMULATOR)
