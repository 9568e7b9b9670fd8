"""The sections of the comparison. Each starts both servers in turn, round by round, and yields its rows."""

import dataclasses
import os
from collections.abc import Callable, Iterator

from rows import Row
from servers import Ingot, LlamaServer, Peer, Server, Shape, Unmeasurable, lost_of, started

MEBIBYTE = 1 << 20

# Tokens a second against llama-server, by clients, on aarch64; on x86_64 all are 1.
THROUGHPUT_BARS = {
    "q4_0": {1: 1.8, 2: 1.5, 4: 1.2, 8: 1.15, 16: 1.15, 32: 1.15},
    "q4_k": {1: 2.0, 2: 1.8, 4: 1.5, 8: 1.5, 16: 1.5, 32: 1.5},
    "q8_0": {1: 1.1, 2: 1.1, 4: 1.1, 8: 1.1, 16: 1.1, 32: 1.1},
    "x86_64": {1: 1.0, 2: 1.0, 4: 1.0, 8: 1.0, 16: 1.0, 32: 1.0},
}
ENGINE_BAR = 0.93


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much is asked. The bars are meant for the whole one."""

    clients: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    waves: int = 2  # requests of each client
    tokens: int = 128
    long_prompt: int = 2000
    arrivals: int = 60
    most_prompt: int = 1024  # of mixed lengths
    most_tokens: int = 256
    prefix: int = 1024
    filled: tuple[int, int] = (32, 2048)  # sequences and tokens of each, for memory


QUICK = Scale(clients=(1, 2, 4), waves=1, tokens=32, long_prompt=500, arrivals=12, most_prompt=128, most_tokens=32,
              prefix=256, filled=(4, 512))  # fmt: skip


@dataclasses.dataclass
class Bench:
    ours: Ingot
    theirs: LlamaServer
    load_program: str
    rounds: int
    scale: Scale
    bars: str  # a key of THROUGHPUT_BARS, or none
    last_id: int  # prompts are made of tokens below it
    shares: list[float] = dataclasses.field(default_factory=list)  # of a processor, which the load took

    def load(self, server: Server, round_number: int, **options: object) -> dict:
        """With prompts that no round before had."""
        options = {"seed": 1000 * (round_number + 1), "end_id": self.last_id} | options
        report = server.load(**options)
        self.shares.append(report["processor_share"])
        return report

    def warm_up(self, server: Server, clients: int) -> None:
        self.load(server, 99, clients=clients, requests=clients, prompt_tokens=16, tokens=4)

    def in_turn(self, runs: list[tuple[Peer, Shape]], work: Callable[[Server, int], object],
                rounds: int | None = None) -> list[tuple]:  # fmt: skip
        """What `work` returns of each run, a tuple a round. The order turns, so that a load that grows favours none."""
        results = []
        for number in range(rounds or self.rounds):
            result = {}
            order = range(len(runs)) if number % 2 == 0 else reversed(range(len(runs)))
            for index in order:
                peer, shape = runs[index]
                with started(peer, shape, self.load_program) as server:
                    result[index] = work(server, number)
            results.append(tuple(result[index] for index in range(len(runs))))
        return results

    def both(self, shape: Shape, work: Callable[[Server, int], object], rounds: int | None = None) -> list[tuple]:
        return self.in_turn([(self.ours, shape), (self.theirs, shape)], work, rounds)


def picked(pairs: list[tuple], *path: str) -> list[tuple[float, float]]:
    def of(report: dict) -> float:
        for name in path:
            report = report[name]
        return report

    return [(of(ours), of(theirs)) for ours, theirs in pairs]


def text_remark(pairs: list[tuple]) -> str:
    """Text may wait for the rest of a character; then gaps are of several tokens, and that is said."""
    shares = [report["events"] / report["tokens"] for pair in pairs for report in pair if report["tokens"]]
    return f"{min(shares):.2f} events a token" if shares and min(shares) < 0.9 else ""


def throughput(bench: Bench) -> Iterator[Row]:
    """Closed loop: every client sends its next request when the one before is answered."""
    tokens = bench.scale.tokens
    for clients in bench.scale.clients:
        def work(server: Server, number: int) -> dict:
            bench.warm_up(server, clients)
            report = bench.load(server, number, clients=clients, requests=bench.scale.waves * clients,
                                prompt_tokens=tokens, tokens=tokens)  # fmt: skip
            if server.peer is bench.ours:  # right behind it, so that both have the same neighbours
                report["engine"] = bench.ours.engine_alone(clients, tokens, tokens)
            return report

        pairs = bench.both(Shape(clients, max(2 * tokens, 2048)), work)
        rates = picked(pairs, "tokens_per_second")
        yield Row(f"{clients} clients", "tokens/s", "higher", "llama-server", rates,
                  THROUGHPUT_BARS.get(bench.bars, {}).get(clients), text_remark(pairs))  # fmt: skip
        yield Row(f"{clients} clients", "tokens/s", "higher", "the engine alone",
                  [(ours["tokens_per_second"], ours["engine"]) for ours, _ in pairs], ENGINE_BAR)  # fmt: skip


def streams(bench: Bench) -> Iterator[Row]:
    """Four streams, and a long prompt that comes while they run."""
    prompt = bench.scale.long_prompt

    def work(server: Server, number: int) -> dict:
        bench.warm_up(server, 5)
        alone = bench.load(server, number, clients=1, requests=1, prompt_tokens=prompt, tokens=4)
        # They would run far longer than the prompt takes; the load ends when it is answered.
        report = bench.load(server, number + 50, failures_count=False, clients=4, requests=4, prompt_tokens=64,
                            tokens=prompt - 64, intruder_tokens=prompt)  # fmt: skip
        if report["failed"] or report["answered"] != 1:
            raise Unmeasurable(f"{server.peer.name}: expected four streams that outlast the prompt, found "
                               f"{report['failed']} failed and {report['answered']} answered {report['first_failure']}")
        return report["intruder"] | {"alone": alone["first_token_seconds"]["p50"]}

    pairs = bench.both(Shape(5, prompt + 128), work)
    yield Row("quiet gap, four streams", "s", "lower", "llama-server", picked(pairs, "quiet_gap_seconds"))
    yield Row("longest gap while a long prompt comes", "s", "lower", "llama-server",
              picked(pairs, "longest_gap_seconds"), 0.05)  # fmt: skip
    yield Row("longest gap while a long prompt comes", "s", "lower", "own quiet gap",
              [(ours["longest_gap_seconds"], ours["quiet_gap_seconds"]) for ours, _ in pairs], 8)  # fmt: skip
    yield Row("the long prompt's first token", "s", "lower", "llama-server", picked(pairs, "first_token_seconds"), 1.0)
    yield Row("the long prompt's first token", "s", "lower", "own, alone",
              [(ours["first_token_seconds"], ours["alone"]) for ours, _ in pairs], 1.35)  # fmt: skip


def arrivals(bench: Bench) -> Iterator[Row]:
    """Poisson arrivals of mixed lengths, at 0.7 of what llama-server can take."""
    clients, scale = 16, bench.scale
    mix = {"mixed": True, "prompt_tokens": scale.most_prompt, "tokens": scale.most_tokens}
    shape = Shape(clients, scale.most_prompt + scale.most_tokens + 16)
    with started(bench.theirs, shape, bench.load_program) as server:
        bench.warm_up(server, clients)
        capacity = bench.load(server, 70, clients=clients, requests=max(scale.arrivals, 2 * clients), **mix)
    rate = 0.7 * capacity["requests_per_second"]

    def work(server: Server, number: int) -> dict:
        bench.warm_up(server, clients)
        return bench.load(server, number, rate=rate, requests=scale.arrivals, **mix)

    pairs = bench.both(shape, work)
    first, gap = "first_token_seconds", "gap_seconds"
    for name, field, part, bar, remark in (
        ("time to first token", first, "p50", 0.7, f"{rate:.3g} requests/s"),
        ("time to first token", first, "p99", 0.7, ""),
        ("gap between tokens", gap, "p50", None, ""),
        ("gap between tokens", gap, "p99", 0.7, text_remark(pairs)),
    ):
        yield Row(f"arrivals: {name}, {part}", "s", "lower", "llama-server", picked(pairs, field, part), bar, remark)


def prefix(bench: Bench) -> Iterator[Row]:
    """Eight clients at once with one prefix in common."""
    clients, shared, own = 8, bench.scale.prefix, 32

    def work(server: Server, number: int) -> dict:
        bench.warm_up(server, clients)
        report = bench.load(server, number, clients=clients, requests=clients, prompt_tokens=shared + own,
                            shared_prefix=shared, tokens=32)  # fmt: skip
        return report | {"computed": report["prompt_tokens"] - report["cached_tokens"]}

    pairs = bench.both(Shape(clients, shared + 512), work)
    least = shared + clients * own
    yield Row("one prefix: prompt tokens computed", "tokens", "lower", "what differs",
              [(ours["computed"], least) for ours, _ in pairs], 1.15)  # fmt: skip
    yield Row("one prefix: prompt tokens computed", "tokens", "lower", "llama-server", picked(pairs, "computed"))
    yield Row("one prefix: first token, p50", "s", "lower", "llama-server",
              picked(pairs, "first_token_seconds", "p50"), 0.35)  # fmt: skip


def turns(bench: Bench) -> Iterator[Row]:
    """A prompt, and the same again with a little more behind it: what windows and recurrent states must not lose."""
    shared, own = bench.scale.prefix, 64

    def work(server: Server, number: int) -> dict:
        first = {"clients": 1, "requests": 1, "prompt_tokens": shared, "shared_prefix": shared, "tokens": 16}
        bench.load(server, number, **first)
        report = bench.load(server, number, **first | {"prompt_tokens": shared + own})
        return {"computed": report["prompt_tokens"] - report["cached_tokens"]}

    # A slot of theirs is kept as it is; ours keeps copies of windows and states beside what runs, in what is left.
    pairs = bench.both(Shape(2, shared + 512, has_own_cache=True), work)
    yield Row("a follow-up turn: prompt tokens computed", "tokens", "lower", "new tokens + 256",
              [(ours["computed"], own + 256) for ours, _ in pairs], 1.0)  # fmt: skip
    yield Row("a follow-up turn: prompt tokens computed", "tokens", "lower", "llama-server", picked(pairs, "computed"))


def small_cache(bench: Bench) -> Iterator[Row]:
    """Sixteen clients in a cache for four of them."""
    clients, tokens = 16, 2 * bench.scale.tokens
    whole = Shape(clients, 2 * tokens)

    def work(server: Server, number: int) -> dict:
        bench.warm_up(server, 4)
        return bench.load(server, number, failures_count=False, clients=clients, requests=bench.scale.waves * clients,
                          prompt_tokens=tokens, tokens=tokens)  # fmt: skip

    small = dataclasses.replace(whole, cached_sequences=4)
    results = bench.in_turn([(bench.ours, small), (bench.theirs, small), (bench.ours, whole)], work)
    lost = [tuple(lost_of(report) for report in result) for result in results]
    why = next((report["first_failure"] for report, _, _ in results if report["first_failure"]), "")
    told = f"it lost {sum(theirs for _, theirs, _ in lost)} of {sum(theirs['requests'] for _, theirs, _ in results)}"
    rates = [tuple(report["tokens_per_second"] for report in result) for result in results]
    name = "16 clients, cache for 4"
    yield Row(f"{name}: lost", "requests", "lower", "none", [(ours, 0) for ours, _, _ in lost], 1.0, why[:80])
    yield Row(name, "tokens/s", "higher", "own, unlimited", [(rate[0], rate[2]) for rate in rates], 0.6)
    yield Row(name, "tokens/s", "higher", "llama-server", [rate[:2] for rate in rates], None, told)


def deterministic(bench: Bench) -> Iterator[Row]:
    """What the same words among any neighbours cost."""
    fixed = bench.ours.with_options("--deterministic")
    for clients, bar in ((1, 0.6), (4, 0.7)):
        def work(server: Server, number: int) -> dict:
            bench.warm_up(server, clients)
            return bench.load(server, number, clients=clients, requests=clients, prompt_tokens=16,
                              tokens=bench.scale.tokens)  # fmt: skip

        shape = Shape(clients, 512)
        pairs = bench.in_turn([(fixed, shape), (bench.ours, shape)], work)
        yield Row(f"deterministic: {clients} streams", "tokens/s", "higher", "own default",
                  picked(pairs, "tokens_per_second"), bar)  # fmt: skip

    def read(server: Server, number: int) -> dict:
        bench.warm_up(server, 1)
        return bench.load(server, number, clients=1, requests=2, prompt_tokens=512, tokens=1)

    shape = Shape(1, 1024)
    waits = picked(bench.in_turn([(fixed, shape), (bench.ours, shape)], read), "first_token_seconds", "p50")
    yield Row("deterministic: prompt of 512", "tokens/s", "higher", "own default",
              [(512 / ours, 512 / other) for ours, other in waits], 0.5)  # fmt: skip


def health(bench: Bench) -> Iterator[Row]:
    """/health, asked every 20 ms while eight streams run."""
    def work(server: Server, number: int) -> dict:
        bench.warm_up(server, 8)
        report = bench.load(server, number, clients=8, requests=8, prompt_tokens=64, tokens=bench.scale.tokens,
                            probe="/health")  # fmt: skip
        if report["probe_failures"]:
            raise Unmeasurable(f"{server.peer.name}: {report['probe_failures']} answers of /health were lost")
        return report

    pairs = picked(bench.both(Shape(8, 512), work), "probe_seconds", "p99")
    yield Row("/health beside 8 streams, p99", "s", "lower", "5 ms", [(ours, 0.005) for ours, _ in pairs], 1.0)
    yield Row("/health beside 8 streams, p99", "s", "lower", "llama-server", pairs)


def start(bench: Bench) -> Iterator[Row]:
    """From exec to the first 200 of /health, the file in the page cache."""
    shape = Shape(4, 2048)
    bench.both(shape, lambda server, number: None, rounds=1)  # reads the file
    pairs = bench.both(shape, lambda server, number: server.start_seconds, rounds=max(5, bench.rounds))
    yield Row("exec to /health 200", "s", "lower", "llama-server", pairs, 0.5)


def memory(bench: Bench) -> Iterator[Row]:
    """The most memory a server had: empty, and with every page of its cache filled."""
    sequences, tokens = bench.scale.filled

    def work(server: Server, number: int) -> tuple[float, float]:
        empty = server.peak_bytes()
        # llama-server stops two tokens short of a slot's end.
        bench.load(server, number, clients=sequences, requests=sequences, prompt_tokens=tokens - 64, tokens=62)
        return empty / MEBIBYTE, server.peak_bytes() / MEBIBYTE

    pairs = bench.both(Shape(sequences, tokens), work, rounds=1)
    most = os.path.getsize(bench.ours.model) / MEBIBYTE + 64
    yield Row(f"peak memory, {sequences} x {tokens} tokens", "MiB", "lower", "llama-server",
              [(ours[1], theirs[1]) for ours, theirs in pairs], 0.92)  # fmt: skip
    yield Row("peak memory, empty", "MiB", "lower", "the file + 64 MiB", [(ours[0], most) for ours, _ in pairs], 1.0)
    yield Row("peak memory, empty", "MiB", "lower", "llama-server", [(ours[0], theirs[0]) for ours, theirs in pairs])


ALL = (throughput, streams, arrivals, prefix, turns, small_cache, deterministic, health, start, memory)
SECTIONS = {section.__name__: section for section in ALL}
