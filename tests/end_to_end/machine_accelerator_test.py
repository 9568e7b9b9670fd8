#!/usr/bin/env python3
"""`ingot boot --device accelerator`: what the emulator is told, what is refused, and that nothing stays of what was started.

usage: machine_accelerator_test.py INGOT KERNELS PROGRAM [NAME_OF_TEST...]

KERNELS is the folder of the shipped kernels, PROGRAM tests/programs/hello.cc, built for x86_64. That a program of the machine
computes on it is tests/boot/accelerator_test.py's.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from images import Images, run_image_tests

LIMIT_SECONDS = 60
NOTE_BYTES = 32  # base/image/grant_note.h


def kernel_for_all(kernels: str, folder: str) -> str:
    """A kernel that says it could grant an accelerator; what comes behind the emulator's start is no matter here."""
    kernel = Path(kernels, "full").read_bytes()
    right = b"accelerator".ljust(NOTE_BYTES, b"\0")
    if right not in kernel:
        kernel = kernel.replace(b"kmsg".ljust(NOTE_BYTES, b"\0"), right, 1)
    path = Path(folder, "kernel")
    path.write_bytes(kernel)
    return str(path)


class MachineAccelerator(Images):
    def setUp(self):
        super().setUp()
        self.kernel = kernel_for_all(self.kernels, self.guest.folder.name)
        for name, words in (("image", ("--grant", "accelerator")), ("plain", ())):
            done = self.guest.run(
                "cast", "--program", self.program, "--kernel", self.kernel, *words, "-o", self.path(name)
            )
            self.assertEqual(done.returncode, 0, done.stderr)
        self.image, self.socket = self.path("image"), self.path("socket")
        # What is started lies there, until it is gone.
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.environment = {**os.environ, "TMPDIR": self.temporary.name}

    def start_boot(self, *words: str) -> subprocess.Popen:
        booted = subprocess.Popen(
            [self.ingot, "boot", self.image, "--accelerator", "tcg", *words], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(booted.kill)
        return booted

    def start_broker(self) -> subprocess.Popen:
        broker = subprocess.Popen(
            [self.ingot, "accelerator", "--socket", self.socket, "--threads", "1", "--clients", "1", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(broker.communicate)
        self.addCleanup(broker.kill)
        self.assertEqual(json.loads(broker.stdout.readline())["event"], "listening")
        return broker

    def wait_for(self, what: str, holds):
        until = time.monotonic() + LIMIT_SECONDS
        while not (found := holds()):
            self.assertLess(time.monotonic(), until, f"expected {what}, found none in time")
            time.sleep(0.02)
        return found

    def test_a_dry_run_prints_what_the_emulator_is_told(self):
        done = self.guest.run("boot", self.image, "--device", "accelerator", "--accelerator", "tcg", "--dry-run", "--json",
                              env=self.environment)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        words = " ".join(json.loads(done.stdout)["command"])
        megabytes = json.loads(done.stdout)["memory"] >> 20
        for expected in (
            "-machine microvm,pcie=on,memory-backend=memory ",
            f"-object memory-backend-file,id=memory,share=on,mem-path=/proc/self/fd/33,size={megabytes}M ",
            f"-m {megabytes}M ",
            "-chardev socket,id=accelerator,fd=32 -device ivshmem-doorbell,chardev=accelerator,vectors=2",
        ):
            self.assertIn(expected, words)
        self.assertIn("makes descriptor 32, a connection to a broker", done.stderr)
        self.assertEqual(os.listdir(self.temporary.name), [])  # nothing was started
        done = self.guest.run("boot", self.path("plain"), "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("memory-backend", "ivshmem", "pcie"):
            self.assertNotIn(word, done.stdout)

    def test_what_does_not_go_together_is_refused_before_anything_starts(self):
        for words, expected in (
            ([self.image], "--device: expected accelerator, or accelerator:SOCKET, for an image with 'grant accelerator'"),
            ([self.image, "--dry-run"], "`ingot boot IMAGE --device accelerator` starts one for it"),
            ([self.path("plain"), "--device", "accelerator"], "expected an image that was cast with --grant accelerator"),
            ([self.image, "--device", "cuda"], "--device: expected accelerator or accelerator:SOCKET, found 'cuda'"),
            ([self.image, "--device", "accelerator:"], "--device: expected accelerator or accelerator:SOCKET, found"),
            ([self.image, "--device="], "--device: expected accelerator or accelerator:SOCKET, found ''"),
        ):
            self.assert_bad_usage(["boot", *words], expected)
        done = self.guest.run("boot", self.image, "--device", f"accelerator:{self.socket}")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"--device: expected somebody who listens at {self.socket}", done.stderr)

    def test_its_own_broker_ends_with_the_machine(self):
        booted = self.start_boot("--device", "accelerator")
        booted.communicate(timeout=LIMIT_SECONDS)
        self.assertIn(booted.returncode, (7, 127))  # 127 of a kernel that only said that it could
        self.assertEqual(os.listdir(self.temporary.name), [])

    def test_another_broker_has_a_client_for_as_long_as_the_machine_runs(self):
        broker = self.start_broker()
        booted = self.start_boot("--device", f"accelerator:{self.socket}")
        booted.communicate(timeout=LIMIT_SECONDS)
        self.assertIn(booted.returncode, (7, 127))
        told = [json.loads(broker.stdout.readline()) for _ in range(2)]
        self.assertEqual([(each["event"], each["client"]) for each in told], [("came", 1), ("left", 1)])
        self.assertEqual(told[1]["end"], "the client left")
        self.assertIsNone(broker.poll())

    def test_a_broker_that_serves_no_more_is_said_before_anything_starts(self):
        self.start_broker()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            other.connect(self.socket)
            self.assertEqual(other.recv(8), bytes(8))  # it was greeted, so it is the one that is served
            done = self.guest.run("boot", self.image, "--accelerator", "tcg", "--device", f"accelerator:{self.socket}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--device: expected an accelerator's greeting, found that it left", done.stderr)

    def test_a_machine_that_is_ended_takes_its_broker_along(self):
        """Stopped before its first instruction, by the emulator's monitor: so it runs until it is told to end."""
        for by in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(by):
                # An emulator that does nothing but live.
                folder = Path(self.path("tools"))
                folder.mkdir(exist_ok=True)
                emulator = folder / "qemu-system-x86_64"
                emulator.write_text(f'#!/bin/sh\nexec {shutil.which("qemu-system-x86_64")} "$@" -S\n', encoding="utf-8")
                emulator.chmod(0o755)
                self.environment["PATH"] = f"{folder}:{os.environ['PATH']}"
                booted = self.start_boot("--device", "accelerator")
                sockets = lambda: list(Path(self.temporary.name).glob("*/accelerator"))  # noqa: E731
                self.wait_for("a broker's socket", sockets)
                broker = self.wait_for("a broker", lambda: self.children_of(booted.pid))[0]
                self.wait_for("an emulator", lambda: len(self.children_of(booted.pid)) == 2)
                booted.send_signal(by)
                if by != signal.SIGKILL:
                    time.sleep(1.2)  # sooner, both are one wish
                    booted.send_signal(by)
                booted.communicate(timeout=LIMIT_SECONDS)
                self.wait_for("the broker's end", lambda: not Path(f"/proc/{broker}/exe").exists())
                self.assertEqual(sockets(), [])

    @staticmethod
    def children_of(process: int) -> list[int]:
        try:
            return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
        except FileNotFoundError:
            return []


if __name__ == "__main__":
    run_image_tests()
