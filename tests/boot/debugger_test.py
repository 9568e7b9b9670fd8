#!/usr/bin/env python3
"""Runs every command and printer of os/debug against tests/boot/debugger.cc, stopped where its state is known.

usage: debugger_test.py FOLDER

FOLDER is where scripts/debug_os builds the image. Exits 77 (a skip to CTest) where there is no GDB.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MARK = "=== "  # before each command's output
FUNCTION = r"0x[0-9a-f]{16} "

# Each command, and what its output must hold, in this order: regular expressions.
EXPECTED = [
    ("ingot-log", [r"ingot: starting", r"no-aslr", r"exhibits: ready"]),
    (
        "ingot-memory-map",
        [r"0x000000001000 - 0x\w+ +\d+ KiB  usable", r"0x000000100000 - 0x\w+ +\d+ KiB  kernel", r"KiB  usable"],
    ),
    ("ingot-frames", [r"frames: 3\d{4} in all, 3\d{4} free", r"free below 16 MiB +\d+", r"failures +0"]),
    (
        "ingot-threads",
        [
            r"CPU 0 \(GDB's thread 1\):",
            r'runs +"main" running \(0x\w+\)  stack 0xffffc\w+',
            FUNCTION + r"show",
            FUNCTION + r"run_payload",
            r'idle +"idle" \w+ \(0x\w+\)  stack 0x',
            FUNCTION + r"Scheduler::switch_to",
            r'ready +"newcomer" ready',
            FUNCTION + r"ingot_begin_stack",
            r"on no CPU:",
            r'asleep +"sleeper" blocked',
            r'waits for the mutex at 0x\w+, held by "main", waited for',
            FUNCTION + r"Scheduler::block",
            FUNCTION + r"Mutex::lock",
        ],
    ),
    ("ingot-queues", [r"CPU 0: 1 ready, \d+ switches, 0 stolen: newcomer"]),
    (
        "ingot-locks",
        [
            r"CPU 0, threads: 1 held",
            r"device +0x[0-9a-f]{16}",
            r"CPU 0, interrupts: 0 held",
            r'CPU 0, thread "main": 1 held',
            r"address_space +0x[0-9a-f]{16}",
        ],
    ),
    (
        "ingot-pages",
        [
            r"0xffff800000000000 - 0xffff8000\w+  physical 0x000000000000  4 KiB  read write kernel write-back",
            r"2 MiB  read write kernel write-back",
            r"0xffffc\w+ - 0xffffc\w+  physical (scattered|0x\w+) +4 KiB  read write kernel write-back global counted",
            r"0xffffffff80100000 - 0xffffffff801\w+  physical 0x000000100000  4 KiB  read execute kernel",
            r"\d+ pages",
        ],
    ),
    (
        "ingot-pages ingot_start",
        [
            r"level 3 \(root\) .*, entry 511: .* table at physical 0x",
            r"level 2 \(giants\) .* table at physical 0x",
            r"level 1 \(directory\) .* table at physical 0x",
            r"level 0 \(page\) .*  4 KiB page, read execute kernel write-back",
            r"0xffffffff801\w+ is physical 0x1\w{5}$",
        ],
    ),
    (
        "ingot-pages 0xffff800000400000",
        [r"level 1 \(directory\) .*  2 MiB page, read write kernel", r"is physical 0x400000$"],
    ),
    ("ingot-pages 8", [r"level 3 \(root\) .*, entry 0: 0x0{16}  nothing", r"0x8 is not mapped"]),
    ("print exhibits.physical", [r"physical 0x1234000"]),
    ("print exhibits.linear", [r"virtual 0xffff800000001000"]),
    ("print exhibits.frame", [r"frame 0x77 at physical 0x77000"]),
    ("print exhibits.good", [r"= ok 42"]),
    ("print exhibits.bad", [r"= error not_found: expected a hat, found none"]),
    ("print exhibits.done", [r"= ok$"]),
    ("print exhibits.something", [r"= 5$"]),
    ("print exhibits.nothing", [r"= nothing"]),
    ("print exhibits.view", [r'= "a view"']),
    ("print exhibits.text", [r'= "a text"']),
    ("print exhibits.atomic", [r"= atomic 9"]),
    ("print exhibits.list", [r"list of 2 = \{0x\w+, 0x\w+\}"]),
    ("print exhibits.mutex", [r'= mutex of rank address_space, held by "main", waited for']),
    ("print exhibits.mutex.waiters_.lock_", [r"= spin lock of rank wait, free"]),
    ("print *kernel_of_this_cpu->boot_processor.current", [r'= thread "main", running, last on CPU 0']),
    ("print kernel_of_this_cpu->boot_info.command_line", [r'= "debug-exit no-aslr check-locks"']),
]


def commands() -> str:
    lines = ["break show", "continue", "set $kernel = ((ingot::os::Processor*)$gs_base)->kernel"]
    for command, _ in EXPECTED:
        command = command.replace("kernel_of_this_cpu", "$kernel")
        lines += [f"echo \\n{MARK}{command}\\n", command]
    return "\n".join(lines) + "\n"


def missing_from(output: str, patterns: list[str]) -> str | None:
    position = 0
    for pattern in patterns:
        found = re.compile(pattern, re.MULTILINE).search(output, position)
        if found is None:
            return pattern
        position = found.end()
    return None


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
        script.write(commands())
        script.flush()
        tool = ROOT / "scripts/debug_os"
        words = [tool, "boot_debugger", "--batch", script.name, "--folder", arguments[1]]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    if done.returncode == 77:
        print(done.stdout)
        return 77
    outputs = done.stdout.split("\n" + MARK)[1:]
    failures = []
    for index, (command, patterns) in enumerate(EXPECTED):
        output = outputs[index] if index < len(outputs) else ""
        missing = missing_from(output, patterns)
        if missing is not None:
            failures.append(f"{command}: expected a line with '{missing}', found none in its place")
    if failures or done.returncode != 0:
        print(done.stdout)
        print("\n".join(failures))
        print(f"FAILED: {len(failures)} of {len(EXPECTED)} commands; GDB's status {done.returncode}")
        return 1
    print(f"passed: {len(EXPECTED)} commands of GDB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
