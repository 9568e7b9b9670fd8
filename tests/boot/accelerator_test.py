#!/usr/bin/env python3
"""Machines with an accelerator: a program of theirs computes by it on its own pages, and outlives its loss.

usage: accelerator_test.py INGOT KERNELS PROGRAM ENGINE [unittest arguments]

KERNELS is the folder of the shipped kernels, PROGRAM tests/programs/accelerator.cc and ENGINE `ingot`, both built for
x86_64. Every machine checks its locks and poisons its heap; the kernel panics at its end where memory did not come back.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from guest import SKIPPED, Ended, Guest, missing_tool  # noqa: E402

LIMIT_SECONDS = 120
CHECKS = ("--option", "check-locks", "--option", "poison")
KEPT = "frames stay its own: it is lost, and may still write there"
paths: list[str] = []


class Broker:
    """`ingot accelerator`, which tells of its clients a line each."""

    def __init__(self, ingot: str, socket: str):
        self.socket = socket
        self.process = subprocess.Popen(
            [ingot, "accelerator", "--socket", socket, "--threads", "1", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.told("listening")

    def told(self, event: str) -> dict:
        for line in self.process.stdout:
            if (told := json.loads(line))["event"] == event:
                return told
        raise AssertionError(f"expected a broker that tells of '{event}', found its end")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def workers(self) -> list[int]:
        process = self.process.pid
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
        return [int(child) for child in children.split()]


class Machine:
    """A booted image with an accelerator of `broker`'s, whose program's output is read as it comes."""

    def __init__(self, guest: Guest, image: str, broker: Broker, *words: str, options: tuple = ()):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [guest.ingot, "boot", guest.path(image), "--log", "--accelerator", "tcg",
             "--device", f"accelerator:{broker.socket}", *options, "--", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, start_new_session=True,
        )  # fmt: skip
        self.output = ""
        # A group of its own: the emulator must end with what started it.
        self.timer = threading.Timer(LIMIT_SECONDS, os.killpg, (self.process.pid, signal.SIGKILL))
        self.timer.start()

    def wait_for(self, word: str):
        while word not in self.output:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"expected '{word}', found the end:\n{self.output}\n{self.end().log}")
            self.output += line.decode(errors="replace")

    def end(self) -> Ended:
        self.output += self.process.stdout.read().decode(errors="replace")
        self.process.stdout.close()
        status = self.process.wait()
        is_late = not self.timer.is_alive()
        self.timer.cancel()
        self.log.seek(0)
        log = self.log.read().decode(errors="replace")
        self.log.close()
        return Ended(None if is_late else status, self.output, log)


class Accelerators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ingot, kernels, program, engine = paths
        cls.guest = Guest(ingot, kernels)
        cls.addClassCleanup(cls.guest.close)
        for image, of in (("image", program), ("engine", engine)):
            done = cls.guest.cast("--program", of, "--grant", "accelerator", image=image)
            if done.returncode != 0:
                raise AssertionError(f"expected an image, found\n{done.stderr}")

    def setUp(self):
        self.broker = Broker(self.guest.ingot, self.guest.path("socket"))
        self.addCleanup(self.broker.end)

    def start(self, *words: str, options: tuple = (), image: str = "image") -> Machine:
        # A disk's loader has a command line of its own.
        checks = () if image == "disk" else CHECKS
        return Machine(self.guest, image, self.broker, *words, options=(*checks, *options))

    def assert_ended(self, ended: Ended, status: int, *expected: str):
        text = f"{ended.output}\n--- the kernel's log\n{ended.log}"
        self.assertEqual(ended.status, status, text)
        for word in expected:
            self.assertIn(word, text)
        for word in ("panic", "warning: accelerator: expected", "warning: lock"):
            self.assertNotIn(word, ended.log, text)
        return text

    def test_programs_compute_on_their_own_pages(self):
        # Memory that begins behind a hole below 4 GiB lies elsewhere in the file than in the machine.
        for options in (("--cpus", "1"), ("--cpus", "2"), ("--machine", "q35"), ("--memory", "4G"),
                        ("--machine", "q35", "--memory", "4G", "--cpus", "2")):  # fmt: skip
            with self.subTest(options):
                ended = self.start("work", options=options).end()
                text = self.assert_ended(ended, 0, "5242880 bytes were filled and copied", "works, and gives back")
                self.assertNotIn(KEPT, text)
                self.assertEqual(self.broker.told("left")["end"], "the client left")

    def test_firmwares_memory_in_pieces_is_found(self):
        if not Path("/usr/share/OVMF/OVMF_CODE_4M.fd").is_file():
            self.skipTest("expected UEFI firmware, found none (scripts/packages check)")
        grant = ("--grant", "accelerator")
        done = self.guest.cast("--program", paths[2], *grant, "--format", "disk", *CHECKS, image="disk")
        self.assertEqual(done.returncode, 0, done.stderr)
        ended = self.start("work", image="disk", options=("--memory", "512M")).end()
        self.assert_ended(ended, 0, "works, and gives back")

    def test_contracts_are_proved_from_within_the_machine(self):
        for machine in ("microvm", "q35"):
            with self.subTest(machine):
                ended = self.start(
                    "verify", "norm.rms_norm", "--device", "accelerator", "--seed", "3",
                    options=("--machine", machine), image="engine",
                ).end()  # fmt: skip
                self.assert_ended(ended, 0, "norm.rms_norm", "1 passed, 0 failed, 0 skipped")

    def test_frames_of_others_are_never_touched(self):
        for options in (("--cpus", "1"), ("--cpus", "2")):
            with self.subTest(options):
                ended = self.start("race", "200", options=options).end()
                self.assert_ended(ended, 0, "accelerator: 200 races")

    def test_without_a_device_the_grant_ends_the_boot(self):
        # On q35, on a microvm whose bus has no such device, and on one without a bus.
        for machine, left_out in (("q35", ""), ("microvm", ""), ("microvm", ",pcie=on")):
            with self.subTest(machine=machine, left_out=left_out):
                done = self.guest.run("boot", self.guest.path("image"), "--device", "accelerator", "--machine", machine,
                                      "--accelerator", "tcg", "--log", "--dry-run", "--json")  # fmt: skip
                words = [
                    word.replace(",memory-backend=memory", "").replace(left_out, "")
                    for word in json.loads(done.stdout)["command"]
                ]
                for of_the_device in ("memory-backend-file", "socket,id=accelerator", "ivshmem"):
                    (at,) = (at for at, word in enumerate(words) if word.startswith(of_the_device))
                    del words[at - 1 : at + 1]
                booted = subprocess.run(
                    words, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False
                )
                log = (booted.stdout + booted.stderr).decode(errors="replace")
                self.assertIn("'accelerator', which this machine does not have", log)
                self.assertEqual("pci: " in log, left_out == "")
                self.assertIn("exit 127", log)

    def test_a_program_may_write_anything_into_its_half_of_the_rings(self):
        ended = self.start("scribble").end()
        text = self.assert_ended(ended, 0, "accelerator: scribbled")
        self.assertNotIn(KEPT, text)
        self.assert_ended(self.start("work").end(), 0, "works, and gives back")  # of the next machine, another worker

    def test_a_worker_that_was_killed_is_told_of_and_keeps_nothing(self):
        machine = self.start("lose")
        machine.wait_for("waiting")
        for worker in self.broker.workers():
            os.kill(worker, signal.SIGKILL)
        text = self.assert_ended(machine.end(), 3, "lost", "ingot: done")
        self.assertNotIn(KEPT, text)

    def test_a_broker_that_was_killed_is_missed_and_keeps_what_its_worker_could_write(self):
        machine = self.start("lose")
        machine.wait_for("waiting")
        self.broker.process.kill()
        self.assert_ended(machine.end(), 3, "lost", f"256 {KEPT}", "ingot: done")

    def test_a_worker_that_stands_still_is_missed(self):
        machine = self.start("lose")
        machine.wait_for("waiting")
        workers = self.broker.workers()
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        self.assert_ended(machine.end(), 3, "lost", f"256 {KEPT}", "ingot: done")
        for worker in workers:
            os.kill(worker, signal.SIGCONT)

    def test_a_program_that_ends_with_memory_shown_gives_it_back(self):
        machine = self.start("hold")
        machine.wait_for("holding")
        machine.process.send_signal(signal.SIGTERM)
        text = self.assert_ended(machine.end(), 143, "ingot: done")
        self.assertNotIn(KEPT, text)
        self.assertEqual(self.broker.told("left")["end"], "the client left")


def main() -> int:
    global paths
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    paths = sys.argv[1:5]
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED accelerator_test: {missing}")
        return SKIPPED
    return 0 if unittest.main(argv=[sys.argv[0], *sys.argv[5:]], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
