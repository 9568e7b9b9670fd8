"""Casting and booting programs as a user does: what the tests of tests/programs and tests/end_to_end share."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

EMULATOR = "qemu-system-x86_64"
SKIPPED = 77  # a skip to CTest


def missing_tool(*others: str) -> str | None:
    for tool in (EMULATOR, *others):
        if shutil.which(tool) is None:
            return f"expected {tool}, found none (scripts/packages build)"
    return None


@dataclass
class Ended:
    """What came of a boot. status: the program's; None: it took too long and was stopped."""

    status: int | None
    output: str  # of the program
    log: str  # of the kernel


@dataclass
class Key:
    """Typed once the output holds `after`; or a signal, which `ingot boot` is sent then."""

    after: str
    letters: bytes = b""
    signal: int = 0


@dataclass
class Guest:
    """A program on Ingot's kernel. The image lies in a folder that goes with close()."""

    ingot: str
    kernel: str
    folder: tempfile.TemporaryDirectory = field(default_factory=tempfile.TemporaryDirectory)

    def close(self):
        self.folder.cleanup()

    def path(self, name: str) -> str:
        return str(Path(self.folder.name) / name)

    def run(self, *words: str, **options) -> subprocess.CompletedProcess:
        """`ingot WORDS`, on this machine."""
        options = {"stdin": subprocess.DEVNULL, "timeout": 300, **options}
        return subprocess.run([self.ingot, *words], capture_output=True, text=True, check=False, **options)

    def cast(self, *words: str, image: str = "image") -> subprocess.CompletedProcess:
        return self.run("cast", *words, "-o", self.path(image), "--kernel", self.kernel)

    def boot(
        self, *arguments: str, image: str = "image", options: tuple = (), keys: tuple = (), seconds: float = 120,
        accelerator: str = "tcg",
    ) -> Ended:  # fmt: skip
        """`ingot boot --log OPTIONS IMAGE -- ARGUMENTS`, with keys typed when their time comes."""
        words = [self.ingot, "boot", self.path(image), "--log", "--accelerator", accelerator, *options]
        if arguments:
            words += ["--", *arguments]
        with tempfile.TemporaryFile() as log:
            # A group of its own: what `ingot` started must end with it, too.
            emulator = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0, start_new_session=True
            )
            timer = threading.Timer(seconds, os.killpg, (emulator.pid, signal.SIGKILL))
            timer.start()
            output = type_and_read(emulator, list(keys))
            emulator.stdout.close()
            emulator.wait()
            ended = timer.is_alive()
            timer.cancel()
            log.seek(0)
            text = log.read().decode(errors="replace")
        return Ended(emulator.returncode if ended else None, output.replace("\r\n", "\n"), text)


def type_and_read(process: subprocess.Popen, keys: list[Key]) -> str:
    """All that the process writes; standard input stays open, because a terminal's does."""
    output = b""
    typed_up_to = 0
    while piece := process.stdout.read(4096):
        output += piece
        while keys and (found := output.find(keys[0].after.encode(), typed_up_to)) >= 0:
            typed_up_to = found + len(keys[0].after)
            key = keys.pop(0)
            process.send_signal(key.signal) if key.signal else process.stdin.write(key.letters)
    process.stdin.close()
    return output.decode(errors="replace")
