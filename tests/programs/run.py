#!/usr/bin/env python3
"""Casts a program, boots it on Ingot's kernel, and judges what it says.

usage: run.py INGOT KERNEL PROGRAM SOURCE [--processors COUNT] [--memory MIB] [--show]

What is expected stands in the source, in comments, as a boot test's does (tests/boot/run.py):

    // program-test: exit 3              the program's status; 0 unless said
    // program-test: expect TEXT         a line of the output holds TEXT; several in this order
    // program-test: log TEXT            a line of the kernel's log holds TEXT; several in this order
    // program-test: never TEXT          no line of output or log holds TEXT
    // program-test: kernel full         of the shipped ones, instead of the least that can do it
    // program-test: arguments WORDS     also: processors, memory (MiB), options (kernel's), cast (further words), seconds
    // program-test: type \\x03 after T   letters typed once the output holds T; several, one after the other
    // program-test: signal SIGTERM after T   that `ingot boot` is sent then
    // program-test: file PATH TEXT      a file of the image; several
    // program-test: initrd PATH MODE TEXT    a file that the loader brings beside it; several
    // program-test: build -static-pie   how os/images compiles and links it; -static unless said
    // program-test: long                for `make check` alone (label programs); else `make test` runs it
    // program-test: elsewhere           not booted by this, but by a test of its own

Exits 0 when all is as expected, 1 when not, and 77 (a skip to CTest) where there is no QEMU.
"""

import argparse
import re
import signal
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "boot"))
from archive import make_archive  # noqa: E402
from guest import SKIPPED, Ended, Guest, Key, missing_tool  # noqa: E402

DIRECTIVE = re.compile(r"^// program-test: (\w+) ?(.*)$", re.MULTILINE)
TYPED = re.compile(r"(\S+) after (.+)")
# What a source may ask for, and what it gets when it does not.
SETTINGS = {"processors": 1, "memory": 0, "seconds": 60.0, "arguments": "", "options": "", "cast": "", "kernel": "",
            "exit": 0}  # fmt: skip


class Expectation:
    def __init__(self, source: Path):
        self.settings = dict(SETTINGS)
        self.texts = {"expect": [], "log": [], "never": []}
        self.keys = []
        self.files = []
        self.initrd = []
        for word, rest in DIRECTIVE.findall(source.read_text(encoding="utf-8")):
            if word in self.texts:
                self.texts[word].append(rest)
            elif word in SETTINGS:
                self.settings[word] = type(SETTINGS[word])(rest)
            elif word == "type" and (typed := TYPED.fullmatch(rest)):
                self.keys.append(Key(typed[2], typed[1].encode().decode("unicode_escape").encode("latin-1")))
            elif word == "signal" and (sent := TYPED.fullmatch(rest)):
                self.keys.append(Key(sent[2], signal=signal.Signals[sent[1]]))
            elif word == "file":
                self.files.append(rest.split(" ", 1))
            elif word == "initrd":
                path, mode, text = rest.split(" ", 2)
                self.initrd.append([path.removeprefix("/"), text, int(mode, 8)])
            elif word not in ("long", "build", "elsewhere"):
                others = ("type X after Y", "signal", "file", "initrd", "long", "elsewhere")
                known = ", ".join([*self.texts, *SETTINGS, *others])
                sys.exit(f"{source}: expected one of {known}, found '{word} {rest}'")

    def problem_with(self, ended: Ended) -> str | None:
        if ended.status is None:
            return f"expected an end within {self.settings['seconds']:.0f} s, found none"
        if ended.status != self.settings["exit"]:
            return f"expected exit status {self.settings['exit']}, found {ended.status}"
        for where, lines in (("expect", ended.output.splitlines()), ("log", ended.log.splitlines())):
            position = 0
            for text in self.texts[where]:
                while position < len(lines) and text not in lines[position]:
                    position += 1
                if position == len(lines):
                    return f"expected a line with '{text}' in the {where}, found none in its place"
        for text in self.texts["never"]:
            if text in ended.output or text in ended.log:
                return f"expected no line with '{text}', found one"
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ingot", "kernel", "program"):
        parser.add_argument(name)
    parser.add_argument("source", type=Path)
    parser.add_argument("--processors", type=int)
    parser.add_argument("--memory", type=int, help="MiB")
    parser.add_argument("--show", action="store_true", help="print output and log also when all is well")
    arguments = parser.parse_args()
    expectation = Expectation(arguments.source)
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED {arguments.source.name}: {missing}")
        return SKIPPED
    settings = expectation.settings
    guest = Guest(arguments.ingot, str(Path(arguments.kernel) / settings["kernel"]))
    try:
        files = []
        for number, (path, text) in enumerate(expectation.files):
            Path(guest.path(f"file{number}")).write_text(text, encoding="utf-8")
            files += ["--file", guest.path(f"file{number}") + "=" + path]
        cast = guest.cast("--program", arguments.program, *files, *settings["cast"].split())
        if cast.returncode != 0:
            print(f"FAILED {arguments.source.name}: expected an image, found\n{cast.stderr}")
            return 1
        options = ["--cpus", str(arguments.processors or settings["processors"])]
        for word in ("check-locks", "poison", *settings["options"].split()):
            options += ["--option", word]
        if expectation.initrd:
            Path(guest.path("initrd")).write_text(make_archive(expectation.initrd), encoding="utf-8")
            options += ["--initrd", guest.path("initrd")]
        if memory := arguments.memory or settings["memory"]:
            options += ["--memory", f"{memory}M"]
        ended = guest.boot(*settings["arguments"].split(), options=tuple(options), keys=tuple(expectation.keys),
                           seconds=settings["seconds"])  # fmt: skip
    finally:
        guest.close()
    problem = expectation.problem_with(ended)
    if problem is not None or arguments.show:
        print(ended.output, ended.log, sep="\n--- the kernel's log\n")
    print(f"FAILED {arguments.source.name}: {problem}" if problem is not None else f"passed {arguments.source.name}")
    return 0 if problem is None else 1


if __name__ == "__main__":
    sys.exit(main())
