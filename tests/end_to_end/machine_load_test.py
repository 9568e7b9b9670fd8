#!/usr/bin/env python3
"""A booted server under a mixed load, drawn from a seed: nothing hangs, nobody gets another answer than alone, and all
that clients made it keep is given back.

usage: machine_load_test.py INGOT KERNELS ENGINE [--seconds S] [--seed N] [--customers N]
                            [--machine KIND] [--cpus N] [--memory MIB]

ENGINE is `ingot` for x86_64. The network is a tap in a namespace of the test's own. What customers do says errands.py.
First they make the server keep all that it ever keeps: a plan for each of as many shapes of passes as it has places for,
every page of the cache, the largest bodies that they send, all at once. Then they come twice, for half of the time each.
After each half the server's counts are back at none and its answers are the same; after the second it has as many files
open as after the first, and kernel and program use no more memory, but for what chance makes heaps keep. Somebody asks
for /health all the time, and how long that took is printed. Then it ends by its power button. An hour: --seconds 3600.
Exits 77 (a skip to CTest) where there is no QEMU or no such namespace.
"""

import argparse
import collections
import concurrent.futures
import http.client
import random
import sys
import threading
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "programs"), str(TESTS / "network")]
from errands import LENGTHS, MOST_WORDS, PROMPTS, Customer, wanted  # noqa: E402
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from machine import Machine, TwoModels, cast_server  # noqa: E402
from own_network import Tap, enter_namespace  # noqa: E402
from served import Client  # noqa: E402

MIB = 1 << 20
HOST, GUEST = "192.0.2.1", "192.0.2.10"
SEQUENCES = 16
PLANS = 128  # that a session keeps of models this small (engine/plan_cache.h), one for each shape of pass
SHOWN_FAILURES = 10
UNWANTED = [
    'ingot_http_refusals_total{status="500"}', 'ingot_http_refusals_total{status="503"}',
    "ingot_connections_dropped_total", "ingot_connections_turned_away_total", "ingot_log_lines_lost_total",
    'ingot_request_success_total{model_name="talker",finished_reason="error"}',
    'ingot_request_success_total{model_name="embedder",finished_reason="error"}',
]  # fmt: skip
# By chance, and for each connection: what is lost with each shows the better the longer it takes.
MOST_GROWTH = {"the kernel": (MIB // 4, 16), "the program": (4 * MIB, 16)}


class Watch(threading.Thread):
    """Asks for /health once a second, and keeps how long each answer took; at most as long as a client waits."""

    def __init__(self, client: Client):
        super().__init__()
        self.client, self.is_over = client, threading.Event()
        self.seconds: list[float] = []
        self.failures: list[str] = []

    def run(self) -> None:
        while not self.is_over.is_set() and not self.failures:
            begin = time.monotonic()
            try:
                status = self.client.get("/health").status
                if status != 200:
                    self.failures.append(f"/health: expected 200, found {status}")
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(f"/health: expected an answer, found {error!r}")
            self.seconds.append(time.monotonic() - begin)
            self.is_over.wait(1)

    def end(self) -> str:
        """The figures."""
        self.is_over.set()
        self.join()
        slowest = sorted(self.seconds)
        middle, late = slowest[len(slowest) // 2], slowest[len(slowest) * 99 // 100]
        return f"{len(slowest)} times /health: median {middle:.3f} s, 99 % {late:.3f}, slowest {slowest[-1]:.3f}"


class Load:
    """Customers that come until the time is up, each on a thread of its own."""

    def __init__(self, machine: Machine, known: dict, arguments: argparse.Namespace):
        self.machine, self.known, self.arguments = machine, known, arguments
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []
        self.lock = threading.Lock()

    def customers(self, turn: object) -> list[Customer]:
        return [
            Customer(self.machine.client, self.known, random.Random(f"{self.arguments.seed} {turn} {number}"))
            for number in range(self.arguments.customers)
        ]

    def run(self, turn: object, seconds: float) -> None:
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self.send, args=(customer, end)) for customer in self.customers(turn)]
        watch = Watch(self.machine.client)
        for thread in (watch, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        print(watch.end())
        self.failures += watch.failures

    def fill(self) -> None:
        """Comes to the bound of everything that has one."""

        def passes(model: str, *kinds: str) -> float:
            figures = self.machine.client.metrics()
            return sum(figures[f'ingot_passes_total{{model_name="{model}",kind="{kind}"}}'] for kind in kinds)

        def send(customer: Customer) -> None:
            customer.send_words(MOST_WORDS)
            customer.unequal_texts(1, 400, 1)  # some pages of the cache, which stay
            while passes("embedder", "prompts") < PLANS:
                customer.unequal_vectors(SEQUENCES)
            # Read while others generate: passes of both have the largest plans. Many have a shape that came before.
            while passes("talker", "prompts", "mixed") < 4 * PLANS:
                customer.unequal_texts(2, 12, 6)
            customer.send_words(MOST_WORDS)

        with concurrent.futures.ThreadPoolExecutor(self.arguments.customers) as threads:
            for done in [threads.submit(send, customer) for customer in self.customers("fill")]:
                done.result()

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


def memory_used(metrics: dict[str, float]) -> dict[str, float]:
    program = metrics["process_resident_memory_bytes"]
    whole = metrics["ingot_machine_memory_bytes"] - metrics["ingot_machine_memory_free_bytes"]
    return {"the kernel": whole - program, "the program": program}


def print_figures(metrics: dict[str, float]) -> None:
    for who, used in memory_used(metrics).items():
        print(f"  memory of {who}: {used:,.0f}")
    for name in ("ingot_connections_accepted_total", "ingot_connections_late_total", "ingot_received_bytes_total",
                 "ingot_sent_bytes_total", "process_open_fds"):  # fmt: skip
        print(f"  {name} {metrics[name]:,.0f}")


def run_load(machine: Machine, arguments: argparse.Namespace) -> list[str]:
    """What is wrong."""
    known = answers_alone(machine)
    load = Load(machine, known, arguments)
    begin = time.monotonic()
    load.fill()
    print(f"filled in {time.monotonic() - begin:.0f} s")
    print_figures(machine.client.wait_until_at_rest("talker", "embedder"))
    figures, wrong = [], []
    for half in range(2):
        load.run(half, arguments.seconds / 2)
        if machine.process.poll() is not None:
            return [*load.failures, f"expected a machine that runs, found its end:\n{machine.text()[-3000:]}"]
        if answers_alone(machine) != known:
            wrong.append("expected the answers of before, found others")
        figures.append(machine.client.wait_until_at_rest("talker", "embedder"))
        print(f"{sum(load.counts.values())} errands by now: {dict(sorted(load.counts.items()))}")
        print_figures(figures[-1])
    return load.failures + wrong + compare(*figures)


def compare(early: dict[str, float], late: dict[str, float]) -> list[str]:
    """What the server keeps of those who came between."""
    wrong = [f"expected no {name}, found {late[name]:.0f}" for name in UNWANTED if late[name] != 0]
    files = [figures["process_open_fds"] for figures in (early, late)]
    if files[0] != files[1]:
        wrong.append(f"expected {files[0]:.0f} open files as after the first half, found {files[1]:.0f}")
    connections = late["ingot_connections_accepted_total"] - early["ingot_connections_accepted_total"]
    for who, (chance, for_each) in MOST_GROWTH.items():
        grown = memory_used(late)[who] - memory_used(early)[who]
        if grown > chance + for_each * connections:
            wrong.append(f"expected {who} to use its memory again, found {grown:,.0f} bytes more at the end")
    return wrong


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
    image = cast_server(guest, arguments.engine, *machine_words, *models.files())
    tap = Tap("load0", queues=arguments.cpus > 1)
    tap.add_address(HOST, 24)
    words = ["--tap", tap.name, "--machine", arguments.machine, "--cpus", str(arguments.cpus)]
    words += ["--", "serve", *models.words(in_image=True)]
    words += ["--host", "0.0.0.0", "--threads", str(arguments.cpus), "--deterministic"]
    words += ["--context", "512", "--cache-memory", "8M", "--sequences", str(SEQUENCES)]
    with Machine(image, *words, host=GUEST) as machine:
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
    parser.add_argument("--seconds", type=float, default=120)
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
