#!/usr/bin/env python3
"""Does `ingot serve` answer more clients, sooner, than llama-server, on the same file with the same threads?

Both servers run in turn (ours, theirs, theirs, ours, ...), a process each, and get the same load from bench_serve_load.
Every row is a ratio of neighbours in time, ours over what it is compared with: the median, with the least and the
greatest. README.md says what each section asks. Exit code 1 where a bar is missed (not with --quick) or a row has no
figure, 2 for bad usage.
"""

import argparse
import dataclasses
import datetime
import json
import os
import platform
import re
import signal
import sys
from pathlib import Path

from rows import HEADING, line_of
from sections import QUICK, SECTIONS, THROUGHPUT_BARS, Bench, Scale
from servers import Ingot, LlamaServer, Unmeasurable, load_average

EXAMPLES = """examples:
  bench/serve_vs_llama_server/run.py --llama-server ~/llama.cpp/build/bin/llama-server --model model.gguf
  ... --section throughput --clients 1 --clients 8 --rounds 5 --json
  ... --section streams --section start --quick
"""


def guessed_bars(model: str) -> str:
    if platform.machine() == "x86_64":
        return "x86_64"
    found = re.search(r"q4_0|q4_k|q8_0", Path(model).name.lower())
    return found[0] if found else "none"


def parse_arguments() -> argparse.Namespace:
    built = Path(__file__).resolve().parent.parent.parent / "build" / "bin"
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--llama-server", metavar="FILE", required=True, help="their program")
    parser.add_argument("--model", metavar="FILE", action="append", required=True, help="a .gguf file; may be repeated")
    parser.add_argument("--ingot", metavar="FILE", default=str(built / "ingot"), help="our program")
    parser.add_argument("--load", metavar="FILE", default=str(built / "bench_serve_load"), help="the load generator")
    parser.add_argument("--section", action="append", choices=list(SECTIONS), help="may be repeated (all)")
    parser.add_argument("--clients", metavar="N", type=int, action="append", help="of throughput; may be repeated")
    parser.add_argument("--threads", metavar="N", type=int, default=2)
    parser.add_argument("--their-threads", metavar="N", type=int, help="where another number suits llama-server better")
    parser.add_argument("--their-option", metavar="WORD", action="append", default=[], help="one more word for it")
    parser.add_argument("--rounds", metavar="N", type=int, default=3, help="pairs of runs a row (3)")
    parser.add_argument("--bars", choices=[*THROUGHPUT_BARS, "none"], help="whose throughput bars (by the file's name)")
    parser.add_argument("--quick", action="store_true", help="little work: shows that all of it runs, proves no bar")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    arguments = parser.parse_args()
    if min(arguments.threads, arguments.rounds, arguments.their_threads or 1, *(arguments.clients or [1])) < 1:
        parser.error("expected threads, rounds and clients of at least 1")
    for program in (arguments.ingot, arguments.llama_server, arguments.load):
        if not os.access(program, os.X_OK):
            parser.error(f"expected a program at {program}, found none")
    for model in arguments.model:
        if not os.path.isfile(model):
            parser.error(f"--model: expected a file, found {model}")
    return arguments


def bench_of(model: str, arguments: argparse.Namespace) -> Bench:
    scale = QUICK if arguments.quick else Scale()
    if arguments.clients:
        scale = dataclasses.replace(scale, clients=tuple(arguments.clients))
    ours = Ingot(arguments.ingot, model, arguments.threads)
    theirs = LlamaServer(arguments.llama_server, model, arguments.their_threads or arguments.threads,
                         tuple(arguments.their_option))  # fmt: skip
    last_id = min(30_000, ours.explained(512)["vocabulary"])
    return Bench(ours, theirs, arguments.load, arguments.rounds, scale, arguments.bars or guessed_bars(model), last_id)


def measure(bench: Bench, sections: list[str], is_told: bool) -> list[dict]:
    results = []

    def tell(result: dict) -> None:
        results.append(result)
        if is_told:
            print(line_of(result), flush=True)

    for name in sections:
        try:
            for row in SECTIONS[name](bench):
                tell({"section": name} | row.result())
        except Unmeasurable as reason:
            tell({"section": name, "row": name, "skipped": str(reason)})
    return results


def main() -> int:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers end with it
    report = {"date": datetime.date.today().isoformat(), "machine": platform.machine(), "cpus": os.cpu_count(),
              "threads": arguments.threads, "rounds": arguments.rounds, "quick": arguments.quick,
              "models": []}  # fmt: skip
    for model in arguments.model:
        try:
            bench = bench_of(model, arguments)
        except Unmeasurable as reason:
            print(f"{model}: {reason}", file=sys.stderr)
            return 1
        if not arguments.json:
            print(f"\n{model}, {arguments.threads} thread(s), {arguments.rounds} rounds, load {load_average():.1f}"
                  f"{', quick: no bar is proved' if arguments.quick else ''}\n{HEADING}", flush=True)  # fmt: skip
        results = measure(bench, arguments.section or list(SECTIONS), not arguments.json)
        share = max(bench.shares, default=0)
        if not arguments.json:
            print(f"the load generator took at most {100 * share:.1f} % of a processor", flush=True)
        report["models"].append({"model": model, "bars": bench.bars, "load_share": share, "rows": results})
    if arguments.json:
        print(json.dumps(report, indent=1))
    rows = [row for model in report["models"] for row in model["rows"]]
    is_met = arguments.quick or all(row.get("met", True) for row in rows)
    return 0 if is_met and not any("skipped" in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
