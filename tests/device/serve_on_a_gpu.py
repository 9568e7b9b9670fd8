#!/usr/bin/env python3
"""A server whose passes run on a device, with made-up models of the 1B shape: what a request is answered does not depend on
others, what begins alike is computed once, and 32 clients get at least 0.9 of what the engine alone makes (`ingot bench model`).

usage: serve_on_a_gpu.py PATH_OF_INGOT_GPU --load PATH_OF_BENCH_SERVE_LOAD [--device cuda] [--small] [unittest arguments]

`make gpu` makes both programs.
"""

import random
import statistics
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from device_cases import ROOT, options, random_model, run_device_cases, tell
from served import Client

sys.path.insert(0, str(ROOT / "bench/serve_vs_llama_server"))
from servers import Ingot, Shape, started  # noqa: E402

THREADS = 4  # of the host, for what it does of a pass
LEAST_OF_THE_ENGINE = 0.9
MOST_COMPUTED = 1.15  # of the prefix once and what differs
ROUNDS = 3


def scaled(whole, small):
    return small if options.is_small else whole


def last_id():
    return scaled(30_000, 500)  # below the special tokens of either shape


class Answers(unittest.TestCase):
    """Words and probabilities are the same alone, among others, with what was found in the cache, and where that is too small."""

    def requests(self):
        draw = random.Random(7)
        prefixes = [[draw.randrange(last_id()) for _ in range(scaled(192, 12))] for _ in range(3)]
        made = []
        for number in range(scaled(64, 4)):
            # Some answers are long: they outgrow what was free when they were admitted, and somebody has to go.
            is_long = number % 2 == 0
            own = [draw.randrange(last_id()) for _ in range(draw.randint(1, scaled(32 if is_long else 160, 10)))]
            prefix = [] if is_long else draw.choice(prefixes) * (number % 3 > 0)
            length = draw.randint(*scaled((250, 400), (20, 30))) if is_long else draw.randint(2, scaled(100, 4))
            fields = {"prompt": prefix + own, "ignore_eos": True, "seed": number,
                      "temperature": draw.choice((0, 0.8)), "max_tokens": length}  # fmt: skip
            made.append(fields | ({"logprobs": 2} if number % 4 < 2 else {}))
        return made

    def ask(self, client, fields):
        answer = client.post("/v1/completions", fields)
        self.assertEqual(answer.status, 200, answer.body)
        choice = answer.json()["choices"][0]
        return choice["text"], choice["logprobs"]

    def ask_together(self, server, requests, seed):
        order = list(range(len(requests)))
        random.Random(seed).shuffle(order)
        with ThreadPoolExecutor(scaled(32, 4)) as pool:
            asked = {number: pool.submit(self.ask, Client(server.port), requests[number]) for number in order}
        return [asked[number].result() for number in range(len(requests))]

    def assert_same(self, found, alone):
        different = [number for number, pair in enumerate(zip(found, alone, strict=True)) if pair[0] != pair[1]]
        self.assertEqual(different, [], "requests whose words or probabilities are others than alone")

    def test_do_not_depend_on_others(self):
        requests = self.requests()
        context = scaled(512, 64)
        for cache_type in ("f16", "q8_0"):
            with random_model("Q4_K_M", layers=4) as model:
                ours = Ingot(options.program.path, str(model), THREADS, ("--cache-type", cache_type), options.device)
                with started(ours, Shape(32, context), "") as server:
                    alone = [self.ask(Client(server.port), fields) for fields in requests]
                    for seed in (1, 2):
                        self.assert_same(self.ask_together(server, requests, seed), alone)
                with started(ours, Shape(32, context, cached_sequences=4), "") as server:
                    self.assert_same(self.ask_together(server, requests, 3), alone)
                    figures = Client(server.port).metrics()
            preempted = sum(value for name, value in figures.items() if name.startswith("ingot_num_preemptions_total"))
            tell(f"{len(requests)} requests in three mixes, {cache_type}: each as alone; {preempted:.0f} were preempted")
            self.assertGreater(preempted, scaled(0, -1))


class Load(unittest.TestCase):
    def setUp(self):
        if options.extra.load is None:
            self.skipTest("expected --load, found none")

    def served(self, model, shape):
        self.ours = Ingot(options.program.path, str(model), THREADS, device=options.device)
        return started(self.ours, shape, str(options.extra.load.resolve()))

    def test_one_prefix_is_computed_once(self):
        clients, shared, own = 8, scaled(1024, 64), scaled(32, 8)
        with random_model("Q4_K_M", layers=4) as model, self.served(model, Shape(clients, 2 * shared)) as server:
            report = server.load(clients=clients, requests=clients, prompt_tokens=shared + own, shared_prefix=shared,
                                 tokens=scaled(32, 2), first_id=0, end_id=last_id())  # fmt: skip
        computed, least = report["prompt_tokens"] - report["cached_tokens"], shared + clients * own
        tell(f"one prefix of {shared}, {clients} clients: {computed} prompt tokens computed, {computed / least:.2f} of what differs")
        self.assertLessEqual(computed, MOST_COMPUTED * least)

    def test_many_clients(self):
        clients, tokens = scaled(32, 4), scaled(128, 4)
        ratios = []
        with random_model("Q4_K_M") as model, self.served(model, Shape(clients, scaled(2048, 64))) as server:
            for number in range(-1, scaled(ROUNDS, 1)):  # the first makes plans and records passes
                report = server.load(clients=clients, requests=2 * clients, prompt_tokens=tokens, tokens=tokens,
                                     first_id=0, end_id=last_id(), seed=1000 * (number + 2))  # fmt: skip
                if number >= 0:
                    ratios.append((report["tokens_per_second"], self.ours.engine_alone(clients, tokens, tokens)))
        for rate, alone in ratios:
            tell(f"{clients} clients: {rate:.0f} tokens/s, the engine alone {alone:.0f}: {rate / alone:.2f}")
        if options.has_times:
            self.assertGreaterEqual(statistics.median(rate / alone for rate, alone in ratios), LEAST_OF_THE_ENGINE)


if __name__ == "__main__":
    run_device_cases(__doc__, ("--load", "bench_serve_load"))
