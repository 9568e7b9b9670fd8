#!/usr/bin/env python3
"""Kills training runs at any moment and takes them up again: they must end like one that was left alone.

    training_test.py PROGRAM
"""

import hashlib
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = 20
SETTINGS = ("data=tales:200", "vocabulary=400", "width=48", "hidden=96", "steps=40", "warmup=4", "evaluate_every=0",
            "checkpoint_every=3", "threads=1")


def command(program, folder):
    arguments = [program, "train", "--preset", "tiny", "--output", str(folder / "model.gguf"), "--json"]
    for setting in (*SETTINGS, f"checkpoint={folder / 'run.ckpt'}", f"log={folder / 'run.jsonl'}"):
        arguments += ["--set", setting]
    return arguments


def finish(program, folder):
    """Runs to the end and returns a fingerprint of the model's bytes."""
    subprocess.run(command(program, folder), check=True, stdout=subprocess.DEVNULL)
    return hashlib.sha256((folder / "model.gguf").read_bytes()).hexdigest()


def main():
    program = sys.argv[1]
    generator = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        (base / "whole").mkdir()
        begin = time.monotonic()
        expected = finish(program, base / "whole")
        duration = time.monotonic() - begin
        interrupted = 0
        for number in range(ROUNDS):
            folder = base / str(number)
            folder.mkdir()
            run = subprocess.Popen(command(program, folder), stdout=subprocess.DEVNULL)
            try:
                run.wait(timeout=generator.uniform(0.1, 0.9) * duration)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
                interrupted += 1
            found = finish(program, folder)
            lines = (folder / "run.jsonl").read_text().splitlines()
            if found != expected or len(lines) != 40:
                print(f"round {number}: expected the model {expected} after 40 logged steps, "
                      f"found {found} after {len(lines)}")
                return 1
    if interrupted < ROUNDS // 2:
        print(f"expected at least {ROUNDS // 2} runs to be killed, found {interrupted}")
        return 1
    print(f"{ROUNDS} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
