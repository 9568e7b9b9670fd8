#!/usr/bin/env python3
"""Runs a folder of programs that nobody here wrote, each in a boot of its own, and counts how they ended.

usage: suite.py INGOT KERNEL FOLDER RESULTS [--processors COUNT] [--jobs COUNT] [--seconds LIMIT] [--only PATTERN]
       suite.py --linux FOLDER RESULTS ...

FOLDER holds static Linux programs for x86_64; docs/os/programs.md says how two suites become such a folder. What each
wrote goes to RESULTS/NAME.txt, how it ended to a line of RESULTS/status.tsv: its exit status, `late` where it did not
end in time, or `panic`. With --linux the host's kernel answers, through an emulator of the processor alone
(qemu-x86_64), for a table to compare with. --before FILE tells what ended otherwise in another status.tsv.

Exits 0 when every program ended by itself or was stopped for its time, 1 after a panic, 77 (a skip to CTest) where
there is no QEMU.
"""

import argparse
import collections
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from guest import SKIPPED, Ended, Guest, missing_tool

LINUX = "qemu-x86_64"
PANIC = re.compile(r"^panic", re.MULTILINE)


def boot(arguments, program: Path) -> Ended:
    guest = Guest(arguments.ingot, arguments.kernel)
    try:
        cast = guest.cast("--program", str(program), "--memory", "256M", "--tmpfs", "64M")
        if cast.returncode != 0:
            sys.exit(f"{program}: expected an image, found\n{cast.stderr}")
        options = ("--cpus", str(arguments.processors), "--option", "check-locks", "--option", "poison")
        return guest.boot(options=options, seconds=arguments.seconds)
    finally:
        guest.close()


def run_on_linux(arguments, program: Path) -> Ended:
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended = subprocess.run(
                [LINUX, str(program.resolve())], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=arguments.seconds, check=False, start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return Ended(None, (late.output or b"").decode(errors="replace"), "")
    status = ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
    return Ended(status, ended.stdout.decode(errors="replace"), "")


def word_for(ended: Ended) -> str:
    if PANIC.search(ended.log):
        return "panic"
    return "late" if ended.status is None else str(ended.status)


def read_table(path: Path) -> dict[str, str]:
    return dict(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--linux", action="store_true")
    if "--linux" not in sys.argv:
        parser.add_argument("ingot")
        parser.add_argument("kernel")
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--processors", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="boots at once")
    parser.add_argument("--seconds", type=float, default=200, help="for one program, of which some sleep for 150")
    parser.add_argument("--only", default="", help="a pattern that names hold")
    parser.add_argument("--before", type=Path, help="a status.tsv to compare with")
    arguments = parser.parse_args()
    missing = f"expected {LINUX}, found none" if arguments.linux and shutil.which(LINUX) is None else missing_tool()
    if missing is not None:
        print(f"SKIPPED {arguments.folder}: {missing}")
        return SKIPPED
    programs = sorted(path for path in arguments.folder.iterdir() if re.search(arguments.only, path.name))
    arguments.results.mkdir(parents=True, exist_ok=True)
    run = run_on_linux if arguments.linux else boot

    def result(program: Path) -> tuple[str, str]:
        ended = run(arguments, program)
        text = f"{ended.output}\n--- the kernel's log\n{ended.log}" if ended.log else ended.output
        (arguments.results / f"{program.name}.txt").write_text(text, encoding="utf-8")
        return program.name, word_for(ended)

    before = read_table(arguments.before) if arguments.before else {}
    counts = collections.Counter()
    with (
        ThreadPoolExecutor(arguments.jobs) as pool,
        (arguments.results / "status.tsv").open("w", encoding="utf-8") as table,
    ):
        for name, word in pool.map(result, programs):
            counts[word] += 1
            print(f"{name}\t{word}", file=table, flush=True)
            if name in before and before[name] != word:
                print(f"{name}: {word}, before {before[name]}")
    print(f"{len(programs)} programs: " + ", ".join(f"{count} ended with {word}" for word, count in counts.most_common()))
    return 1 if counts["panic"] else 0


if __name__ == "__main__":
    sys.exit(main())
