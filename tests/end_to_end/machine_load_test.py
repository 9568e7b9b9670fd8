#!/usr/bin/env python3
"""A booted server under a mixed load, drawn from a seed: nothing hangs, nobody gets another answer than alone, and all
that clients made it keep is given back.

usage: machine_load_test.py INGOT KERNELS ENGINE [--seconds S] [--seed N] [--customers N]
                            [--machine KIND] [--cpus N] [--memory MIB]

ENGINE is `ingot` for x86_64. The network is a tap in a namespace of the test's own. What customers do says errands.py.
They come twice, for half of the time each. After each half the server's counts are back at none and its answers are the
same; after the second, kernel and program use no more memory than after the first, but for what chance makes heaps
keep. Then it ends by its power button. An hour: --seconds 3600. Exits 77 (a skip to CTest) where there is no QEMU or no
such namespace.
"""

import argparse
import collections
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from errands import LENGTHS, PROMPTS, Customer, wanted  # noqa: E402
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from machine import Machine, TwoModels  # noqa: E402
from tap_network import Tap, enter_namespace  # noqa: E402

MIB = 1 << 20
HOST, GUEST = "192.0.2.1", "192.0.2.10"
SHOWN_FAILURES = 10
UNWANTED = [
    'ingot_http_refusals_total{status="500"}', 'ingot_http_refusals_total{status="503"}',
    "ingot_connections_dropped_total", "ingot_connections_turned_away_total", "ingot_log_lines_lost_total",
    'ingot_request_success_total{model_name="talker",finished_reason="error"}',
    'ingot_request_success_total{model_name="embedder",finished_reason="error"}',
]  # fmt: skip
# By chance, and for each connection: what is lost with each shows the better the longer it takes.
MOST_GROWTH = {"the kernel": (MIB // 4, 64), "the program": (8 * MIB, 64)}


class Load:
    """Customers that come until the time is up, each on a thread of its own."""

    def __init__(self, machine: Machine, known: dict, arguments: argparse.Namespace):
        self.machine, self.known, self.arguments = machine, known, arguments
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []
        self.lock = threading.Lock()

    def run(self, half: int) -> None:
        end = time.monotonic() + self.arguments.seconds / 2
        customers = [
            Customer(self.machine.client, self.known, random.Random(f"{self.arguments.seed} {half} {number}"))
            for number in range(self.arguments.customers)
        ]
        threads = [threading.Thread(target=self.send, args=(customer, end)) for customer in customers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def send(self, customer: Customer, end: float) -> None:
        while time.monotonic() < end and self.machine.process.poll() is None and len(self.failures) < SHOWN_FAILURES:
            try:
                name = customer.errand()
            except AssertionError as error:
                with self.lock:
                    self.failures.append(str(error))
                continue
            with self.lock:
                self.counts[name] += 1
        customer.leave()


def answers_alone(machine: Machine) -> dict[tuple[str, int], str]:
    known = {}
    for prompt in PROMPTS:
        for tokens in LENGTHS:
            answer = machine.client.post("/v1/completions", wanted(prompt, tokens))
            if answer.status != 200:
                raise AssertionError(f"expected an answer, found {answer.status}: {answer.body}")
            known[prompt, tokens] = answer.json()["choices"][0]["text"]
    return known


def rest(machine: Machine) -> dict[str, float]:
    """The server's figures once everybody has left."""
    client = machine.client
    for model in ("talker", "embedder"):
        for name in ("num_requests_running", "num_requests_waiting", "cache_pages_in_use"):
            client.wait_for_metric(f'ingot_{name}{{model_name="{model}"}}', lambda value: value == 0)
    client.wait_for_metric("ingot_connections", lambda value: value == 1)  # who asks
    return client.metrics()


def memory_used(metrics: dict[str, float]) -> dict[str, float]:
    program = metrics["process_resident_memory_bytes"]
    whole = metrics["ingot_machine_memory_bytes"] - metrics["ingot_machine_memory_free_bytes"]
    return {"the kernel": whole - program, "the program": program}


def print_figures(metrics: dict[str, float]) -> None:
    for who, used in memory_used(metrics).items():
        print(f"  memory of {who}: {used:,.0f}")
    for name in ("ingot_connections_accepted_total", "ingot_connections_late_total", "ingot_received_bytes_total",
                 "ingot_sent_bytes_total"):  # fmt: skip
        print(f"  {name} {metrics[name]:,.0f}")


def run_load(machine: Machine, arguments: argparse.Namespace) -> list[str]:
    """What is wrong."""
    known = answers_alone(machine)
    load = Load(machine, known, arguments)
    memory, connections, wrong = [], [], []
    for half in range(2):
        load.run(half)
        if machine.process.poll() is not None:
            return [*load.failures, f"expected a machine that runs, found its end:\n{machine.text()[-3000:]}"]
        if answers_alone(machine) != known:
            wrong.append("expected the answers of before, found others")
        metrics = rest(machine)
        memory.append(memory_used(metrics))
        connections.append(metrics["ingot_connections_accepted_total"])
        print(f"{sum(load.counts.values())} errands by now: {dict(sorted(load.counts.items()))}")
        print_figures(metrics)
    wrong += [f"expected no {name}, found {metrics[name]:.0f}" for name in UNWANTED if metrics[name] != 0]
    for who, (chance, for_each) in MOST_GROWTH.items():
        grown = memory[1][who] - memory[0][who]
        if grown > chance + for_each * (connections[1] - connections[0]):
            wrong.append(f"expected {who} to use its memory again, found {grown:,.0f} bytes more after the second half")
    return load.failures + wrong


def check_end(machine: Machine) -> list[str]:
    status = machine.end()
    log = machine.text()
    wrong = [f"expected exit 0, found {status}"] if status != 0 else []
    wrong += [f"expected '{line}' in the log" for line in ("power button: pressed", "exit 0\n") if line not in log]
    wrong += [f"found in the log: {line}" for line in log.splitlines() if "panic" in line or "leak" in line]
    print("\n".join(line for line in log.splitlines() if "page faults" in line))
    return wrong if not wrong else [*wrong, log[-3000:]]


def boot_and_load(guest: Guest, arguments: argparse.Namespace) -> int:
    models = TwoModels(Path(guest.folder.name))
    machine_words = ["--memory", f"{arguments.memory}M", "--address", f"{GUEST}/24,{HOST}"]
    done = guest.cast("--serve", "--engine", arguments.engine, *machine_words, *models.files())
    if done.returncode != 0:
        print(f"FAILED: expected an image, found\n{done.stderr}")
        return 1
    tap = Tap("load0", queues=arguments.cpus > 1)
    tap.add_address(HOST, 24)
    words = ["--tap", tap.name, "--machine", arguments.machine, "--cpus", str(arguments.cpus)]
    words += ["--", "serve", *models.words(in_image=True)]
    words += ["--host", "0.0.0.0", "--threads", str(arguments.cpus), "--deterministic"]
    words += ["--context", "512", "--cache-memory", "8M", "--sequences", "16"]
    with Machine(guest.path("image"), *words, host=GUEST) as machine:
        wrong = run_load(machine, arguments)
        if machine.process.poll() is None:
            wrong += check_end(machine)
    for text in wrong:
        print(f"FAILED: {text}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ingot", "kernels", "engine"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--customers", type=int, default=8)
    parser.add_argument("--machine", default="microvm")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--memory", type=int, default=192, help="in MiB")
    arguments = parser.parse_args()
    if (missing := missing_tool() or enter_namespace()) is not None:
        print(f"SKIPPED: {missing}")
        return SKIPPED
    Machine.ingot = arguments.ingot
    guest = Guest(arguments.ingot, arguments.kernels)
    try:
        return boot_and_load(guest, arguments)
    finally:
        guest.close()


if __name__ == "__main__":
    sys.exit(main())
