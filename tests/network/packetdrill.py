#!/usr/bin/env python3
"""Runs scripts by packetdrill itself against our stack (ingot_packetdrill, a shared object), and compares its verdicts
with those of our own reader and runner.

usage: packetdrill.py [--packetdrill PATH] [--every N] --stack OBJECT --runner NETWORK_SCRIPTS [FILE or FOLDER...]

Without --packetdrill, INGOT_PACKETDRILL names it; without both this is skipped. Without scripts, those of
INGOT_OUTSIDE_DATA are taken; --every: one in N of them. packetdrill is not asked where it cannot answer: it does not
read the script, or the script asks the system itself (`%{ }%`), or uses what its interface to stacks does without here,
or speaks to a socket that neither listens nor connects.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SKIPPED = 77
ENDLESS = 124  # as timeout has it
SECONDS_OF_A_SCRIPT = 60
NOT_THERE = re.compile(r"%\{|\bepoll_|\bpipe\(|\bsplice\(|\bopen\(")
CONNECTION = re.compile(r"\b(connect|listen)\(")
# A comment, which may hold anything, or a command.
COMMENT_OR_COMMAND = re.compile(r"//[^\n]*|/\*.*?\*/|`([^`]*)`", re.DOTALL)
ADDRESSES = {
    "ipv4": ["--local_ip=192.168.0.1", "--gateway_ip=192.168.0.2", "--netmask_ip=255.255.0.0", "--remote_ip=192.0.2.1"],
    "ipv6": ["--local_ip=fd3d:fa7b:d17d::1", "--gateway_ip=fd3d:fa7b:d17d::2", "--remote_ip=2001:db8::1"],
}


@dataclass
class Outcome:
    passed: bool | None  # None: it cannot be asked
    text: str


def chosen(text: str) -> str:
    """Of `#ifdef` what our runner takes: STANDARD is defined."""
    lines, taken = [], [True]
    for line in text.splitlines():
        words = line.split()
        if words[:1] in (["#ifdef"], ["#ifndef"]):
            taken.append((words[1] == "STANDARD") == (words[0] == "#ifdef"))
        elif words[:1] == ["#else"]:
            taken[-1] = not taken[-1]
        elif words[:1] == ["#endif"]:
            taken.pop()
        elif all(taken):
            lines.append(line)
    return "\n".join(lines) + "\n"


def with_commands_aside(text: str, folder: Path) -> str:
    """The script, whose commands tell our stack of themselves instead of changing this machine."""
    names = []

    def replacement(match: re.Match[str]) -> str:
        if match[1] is None:
            return ""
        names.append(folder / f"{len(names)}.command")
        names[-1].write_text(match[1])
        return f"`echo {names[-1]} >> {folder}/commands`"

    (folder / "commands").write_text("")
    return COMMENT_OR_COMMAND.sub(replacement, text)


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=SECONDS_OF_A_SCRIPT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, ENDLESS, "", f"no end within {SECONDS_OF_A_SCRIPT} s")


def drill(packetdrill: str, stack: Path, script: Path) -> Outcome:
    text = chosen(script.read_text())
    if NOT_THERE.search(text):
        return Outcome(None, "asks for what its interface has not")
    if not CONNECTION.search(text):
        return Outcome(None, "has no peer: packetdrill knows the addresses of connections alone")
    version = (re.findall(r"--ip_version=(\w+)", text) or ["ipv4"])[-1]
    mtu = (re.findall(r"--mtu=(\d+)", text) or ["1500"])[-1]
    with tempfile.TemporaryDirectory(prefix="packetdrill-") as name:
        folder = Path(name)
        prepared = folder / script.name
        prepared.write_text(with_commands_aside(text, folder))
        arguments = [packetdrill, f"--ip_version={version}", *ADDRESSES.get(version, [])]
        read = run([*arguments, "--dry_run", prepared.name], folder)
        if read.returncode == ENDLESS:
            return Outcome(False, read.stderr)
        if read.returncode != 0:
            return Outcome(None, "cannot be read: " + read.stderr.strip())
        flags = f"{version} {mtu} {folder}/commands"
        done = run([*arguments, f"--so_filename={stack}", f"--so_flags={flags}", prepared.name], folder)
        is_read = "unknown symbol" not in done.stderr  # names of FreeBSD's, which it looks for only here
        return Outcome(done.returncode == 0 if is_read else None, done.stderr.strip())


def our_verdicts(runner: Path, scripts: list[Path]) -> dict[Path, Outcome]:
    printed = subprocess.run([runner, *scripts], capture_output=True, text=True).stdout
    outcomes = {}
    for word, path, reason in re.findall(r"^(passed|FAILED|not judged) +(\S+?\.pkt)(.*)$", printed, re.MULTILINE):
        outcomes[Path(path)] = Outcome({"passed": True, "FAILED": False}.get(word), reason.lstrip(":"))
    return outcomes


def scripts_of(places: list[Path]) -> list[Path]:
    found: list[Path] = []
    for place in places:
        found += sorted(place.rglob("*.pkt")) if place.is_dir() else [place]
    return found


def compare(scripts: list[Path], ours: dict[Path, Outcome], theirs: list[Outcome]) -> bool:
    agreed = unasked = differences = 0
    for script, their in zip(scripts, theirs):
        our = ours[script]
        if our.passed is None or their.passed is None:
            unasked += 1
        elif our.passed == their.passed:
            agreed += 1
        else:
            differences += 1
            words = {True: "passed", False: "failed"}
            print(f"{script}: expected {words[our.passed]}, as our runner says, found {words[their.passed]}")
            print(f"    ours: {our.text.strip()}\n    packetdrill: {their.text}")
    print(f"{agreed} verdicts agree, {differences} differ, {unasked} scripts were not asked about")
    if agreed == 0:
        print("expected verdicts to compare, found none")
    return differences == 0 and agreed > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packetdrill", default=os.environ.get("INGOT_PACKETDRILL"))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--stack", type=Path, required=True)
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("scripts", type=Path, nargs="*")
    wishes = parser.parse_args()
    outside = os.environ.get("INGOT_OUTSIDE_DATA")
    if not wishes.packetdrill:
        print("SKIPPED: INGOT_PACKETDRILL names no program")
        return SKIPPED
    if not wishes.scripts and not outside:
        print("SKIPPED: INGOT_OUTSIDE_DATA names no folder")
        return SKIPPED
    if not wishes.stack.exists():
        print(f"expected the stack at {wishes.stack}, found none; build it by: ninja -C build ingot_packetdrill")
        return 1
    scripts = scripts_of(wishes.scripts or [Path(outside or "") / "tcp"])[:: wishes.every]
    ours = our_verdicts(wishes.runner, scripts)
    with ThreadPoolExecutor(2) as pool:
        theirs = list(pool.map(lambda script: drill(wishes.packetdrill, wishes.stack.resolve(), script), scripts))
    return 0 if compare(scripts, ours, theirs) else 1


if __name__ == "__main__":
    sys.exit(main())
