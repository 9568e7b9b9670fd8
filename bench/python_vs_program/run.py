#!/usr/bin/env python3
"""What Python costs: tokens a second beside `ingot run`, and a call of a contract beside one in C++; in turn, in one run.

usage: PYTHONPATH=build/python bench/python_vs_program/run.py [--build build] [--model PATH] [--rounds 9] [--threads 1]

Generation: rounds of both with the same prompt and seed, each in a process of its own; medians of the rates and of their ratios, by the clock and by processors' time,
which says more where others compute beside it. A call: norm.rms_norm on 1 MiB, median of the thread's CPU time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

PROMPT = "Once there was a thoughtful cook named Ralf."
SHAPE = (256, 1024)  # float32: 1 MiB


def generate_here(path, tokens, threads):
    import ingot

    model = ingot.Model(path, threads=threads)
    stream = model.generate(PROMPT, max_tokens=tokens, stream=True)
    next(stream)  # reads the prompt
    begin = time.process_time()
    for _ in stream:
        pass
    seconds = time.process_time() - begin
    report = stream.report
    count = len(report["tokens"])
    print(json.dumps({"rate": count / report["decode_seconds"], "processor_rate": (count - 1) / seconds}))


def printed_by(command):
    """What it prints, and the processor seconds of all its threads."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"expected {command} to end well, found {process.returncode}")
    return json.loads(said), usage.ru_utime + usage.ru_stime


def rates_there(command, tokens):
    """By the clock, and by processors' time: that of all tokens without that of the first, and of all before it."""
    done, seconds = printed_by([*command, "-n", str(tokens)])
    _, before = printed_by([*command, "-n", "1"])
    return done["decode_tokens_per_second"], (len(done["ids"]) - 1) / (seconds - before)


def compare_generation(options):
    words = [] if options.model is None else [options.model]
    here = [sys.executable, __file__, "--here", "--threads", str(options.threads), *(["--model", *words] if words else [])]
    here += ["--tokens", str(options.tokens)]
    there = [f"{options.build}/bin/ingot", "run", *words, "-p", PROMPT, "--json", "--threads", str(options.threads)]

    def rates_here():
        said, _ = printed_by(here)
        return said["rate"], said["processor_rate"]

    rounds = []
    for number in range(options.rounds):
        if number % 2 == 0:  # each comes first in half of them
            program = rates_there(there, options.tokens)
            python = rates_here()
        else:
            python = rates_here()
            program = rates_there(there, options.tokens)
        rounds.append((program, python))
    for index, clock in enumerate(("tokens/s", "tokens/s of processor time")):
        for side, name in enumerate(("program", "python")):
            values = [of_round[side][index] for of_round in rounds]
            print(f"{name:8} {statistics.median(values):9.1f} {clock} [{min(values):.1f}, {max(values):.1f}]")
        ratios = [python[index] / program[index] for program, python in rounds]
        print(f"python by program, median of rounds: {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]")


def compare_calls(options):
    import ingot
    import numpy as np

    kernels = ingot.Kernels(threads=1)
    x, gamma, out = np.full(SHAPE, 1.5, np.float32), np.ones(SHAPE[1], np.float32), np.empty(SHAPE, np.float32)
    ways = {"out given": {"out": out}, "out made": {}}
    costs = {name: [] for name in ("C++", *ways)}
    for _ in range(options.rounds):
        said = subprocess.run([f"{options.build}/bin/bench_contract_call", *map(str, SHAPE), "500"], check=True, capture_output=True)
        costs["C++"].append(float(said.stdout))
        for name, given in ways.items():
            times = []
            for _ in range(500):
                begin = time.thread_time_ns()
                ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=1e-6, on=kernels, **given)
                times.append((time.thread_time_ns() - begin) / 1e3)
            costs[name].append(statistics.median(times))
    for name, values in costs.items():
        more = statistics.median(here - there for here, there in zip(values, costs["C++"]))
        print(f"{name:10} {statistics.median(values):8.1f} us a call [{min(values):.1f}, {max(values):.1f}], {more:+.1f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--model")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return generate_here(options.model, options.tokens, options.threads)
    compare_generation(options)
    compare_calls(options)


if __name__ == "__main__":
    main()
