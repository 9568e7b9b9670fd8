#!/usr/bin/env python3
"""ingot accelerator as a user runs it: a broker, clients that come and go, and what is told where somebody is killed.

usage: accelerator_test.py PATH_OF_INGOT [unittest arguments]
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import brokers  # noqa: E402
from brokers import LIMIT_SECONDS, Broker, WithPath, verify  # noqa: E402
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402

EMULATOR = "qemu-system-x86_64"


def asked(machine, command, arguments=None):
    """What QEMU's monitor answers; what it tells unasked is passed over."""
    machine.stdin.write(json.dumps({"execute": command, "arguments": arguments or {}}))
    machine.stdin.flush()
    while "return" not in (answer := json.loads(machine.stdout.readline())):
        pass
    return answer["return"]


def asked_of_server(port: int, path: str, body: bytes | None = None) -> int:
    """The status of what a server answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


class Accelerator(WithPath):
    def test_a_family_is_proved_through_its_queue(self):
        with Broker(self.path) as broker:
            self.assertEqual(broker.listening["event"], "listening")
            done = verify(self.path, "norm", "--reduced", "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = json.loads(done.stdout)["rows"]
            self.assertEqual({row["variant"] for row in rows}, {"accelerator"})
            self.assertEqual({row["status"] for row in rows}, {"passed"})
            self.assertGreater(len(rows), 10)
            came, left = broker.told(), broker.told()
            self.assertEqual((came["event"], left["event"], left["end"]), ("came", "left", "the client left"))
            self.assertGreaterEqual(left["dispatches"], sum(row["cases"] for row in rows))
            self.assertEqual(broker.end(), 0)
        self.assertFalse(self.path.exists())

    def test_what_is_told_goes_to_no_client_where_nobody_listens_to_it(self):
        """With standard descriptors closed, as some who start services leave them."""
        words = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', brokers.program.path, "accelerator", "--socket", str(self.path)]
        with subprocess.Popen([*words, "--threads", "1"]) as broker:
            try:
                until = time.monotonic() + LIMIT_SECONDS
                while not self.path.exists():
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.02)
                done = verify(self.path, "norm.rms_norm", "--reduced")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                children = Path(f"/proc/{broker.pid}/task/{broker.pid}/children")
                while children.read_text():  # its worker sees that the client left
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.02)
            finally:
                broker.kill()

    def test_models_say_through_it_what_they_say_without(self):
        words = ("run", "-p", "Once upon a time", "-n", "24", "--seed", "5", "--temperature", "0.7")
        device = ("--device", f"accelerator:{self.path}")
        alone = brokers.program.run(*words)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        with Broker(self.path) as broker:
            through = brokers.program.run(*words, *device)
            self.assertEqual((through.returncode, through.stdout), (0, alone.stdout), through.stderr)
            self.assertEqual(broker.told()["event"], "came")
            left = broker.told()
            self.assertGreater(left["lists"], 20)  # a pass that came before is a packet
            self.assertEqual(left["refusals"], 0)
            measured = brokers.program.run("bench", "model", "--prompt", "16", "--generate", "8", "--repeat", "1", "--json", *device)
            self.assertEqual(measured.returncode, 0, measured.stderr)
            self.assertNotIn("bandwidth_percent", json.loads(measured.stdout))
            proved = brokers.program.run("verify", "model", "--cuts", "1,5", "--batches", "2", *device)
            self.assertEqual(proved.returncode, 0, proved.stdout + proved.stderr)
            self.assertEqual(broker.end(), 0)

    def test_a_worker_that_is_killed_is_an_error_of_its_client_alone(self):
        with Broker(self.path) as broker:
            client = self.start_verify()
            worker = broker.told()["worker"]
            time.sleep(0.3)
            os.kill(worker, signal.SIGKILL)
            self.assertEqual(broker.told()["end"], "signal 9")
            output, _ = client.communicate(timeout=LIMIT_SECONDS)
            self.assertEqual(client.returncode, 1)
            self.assertIn("the accelerator's worker is gone", output)
            done = verify(self.path, "norm.rms_norm", "--reduced")
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_server_whose_worker_is_killed_says_that_it_is_ill(self):
        with Broker(self.path) as broker:
            words = ["serve", "--host", "127.0.0.1", "--port", "0", "--json", "--device", f"accelerator:{self.path}"]
            server = subprocess.Popen([brokers.program.path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(server.communicate)
            self.addCleanup(server.kill)
            port = json.loads(server.stdout.readline())["port"]
            worker = broker.told()["worker"]
            self.assertEqual(asked_of_server(port, "/health"), 200)
            self.assertEqual(asked_of_server(port, "/completion", b'{"prompt": "Once", "n_predict": 4}'), 200)
            os.kill(worker, signal.SIGKILL)
            self.assertEqual(asked_of_server(port, "/completion", b'{"prompt": "Once", "n_predict": 4}'), 500)
            self.assertEqual(asked_of_server(port, "/health"), 503)

    def test_a_broker_outlives_who_reads_its_lines_and_tells_of_those_that_it_ends(self):
        with Broker(self.path) as broker:
            broker.process.stdout.close()
            for _ in range(2):
                self.assertEqual(verify(self.path, "norm.rms_norm", "--reduced").returncode, 0)
            broker.process.stdout = None
            self.assertEqual(broker.end(), 1)  # what it had to tell was not written
        with Broker(self.path) as broker:
            self.start_verify()
            self.assertEqual(broker.told()["event"], "came")
            self.assertEqual(broker.end(), 0)
            self.assertEqual(broker.told()["end"], "the broker was ended")

    def test_a_broker_that_is_killed_takes_its_workers_along_and_hangs_nobody(self):
        with Broker(self.path) as broker:
            client = self.start_verify()
            worker = broker.told()["worker"]
            time.sleep(0.3)
            broker.end(signal.SIGKILL)
            output, _ = client.communicate(timeout=LIMIT_SECONDS)
            self.assertEqual(client.returncode, 1)
            self.assertIn("the accelerator's worker is gone", output)
            with self.assertRaises(ProcessLookupError):
                for _ in range(200):
                    os.kill(worker, 0)
                    time.sleep(0.01)
        # What it left behind makes way.
        with Broker(self.path) as broker:
            self.assertEqual(verify(self.path, "norm.rms_norm", "--reduced").returncode, 0)

    def test_strangers_who_send_anything_are_nothing_to_their_neighbours(self):
        generator = random.Random(4)
        with Broker(self.path, "--clients", "200") as broker:
            for _ in range(60):
                stranger = socket.socket(socket.AF_UNIX)
                stranger.connect(str(self.path))
                try:
                    stranger.sendall(generator.randbytes(generator.randrange(1, 4000)))
                    if generator.random() < 0.5:
                        stranger.recv(generator.randrange(1, 100))
                except OSError:
                    pass
                stranger.close()
            done = verify(self.path, "norm.rms_norm", "--reduced")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(broker.end(), 0)

    @unittest.skipUnless(shutil.which(EMULATOR), f"SKIPPED: {EMULATOR} is not installed")
    def test_a_virtual_machines_device_connects_as_a_process_does(self):
        """QEMU's own ivshmem device takes the greeting; its second region is the shared memory, which begins with a name."""
        words = [
            EMULATOR, "-machine", "q35", "-accel", "tcg", "-m", "64", "-nodefaults", "-display", "none", "-qmp", "stdio",
            "-chardev", f"socket,id=broker,path={self.path}", "-device", "ivshmem-doorbell,chardev=broker,vectors=2",
        ]  # fmt: skip
        with Broker(self.path) as broker:
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as machine:
                self.addCleanup(machine.kill)
                self.assertIn("QMP", json.loads(machine.stdout.readline()))
                self.assertEqual(asked(machine, "qmp_capabilities"), {})
                until = time.monotonic() + LIMIT_SECONDS
                region = None
                while region is None and time.monotonic() < until:  # its firmware says where the region lies
                    tree = asked(machine, "human-monitor-command", {"command-line": "info mtree -f"})
                    region = re.search(r"([0-9a-f]{16})-[0-9a-f]{16} \(prio 1, ram\): ivshmem.bar2", tree)
                    time.sleep(0.1)
                self.assertIsNotNone(region, "expected firmware to place the region, found it nowhere")
                first = asked(machine, "human-monitor-command", {"command-line": f"xp /1xg 0x{region[1]}"})
                self.assertEqual(int(first.split(":")[1], 16).to_bytes(8, "little"), b"INGOTACC")
                machine.stdin.write('{"execute": "quit"}')
                machine.stdin.flush()
                machine.communicate(timeout=LIMIT_SECONDS)
            self.assertEqual(broker.told()["event"], "came")
            self.assertEqual(broker.told()["end"], "the client left")

    def test_what_is_wrong_is_said(self):
        done = verify(self.path, "norm")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"expected somebody who listens at {self.path}", done.stderr)
        done = brokers.program.run("verify", "norm", "--device", "accelerator")  # of the machine that this runs on
        self.assertEqual(done.returncode, 1)
        self.assertIn("cast the image with --grant accelerator, boot it with --device accelerator", done.stderr)
        done = brokers.program.run("verify", "--device", "accelerator:")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected the path of its socket behind accelerator:", done.stderr)
        done = brokers.program.run("explain", "--device", f"accelerator:{self.path}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is for an accelerator's worker to choose", done.stderr)
        done = brokers.program.run("run", "--device", f"accelerator:{self.path}", "-p", "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"expected somebody who listens at {self.path}", done.stderr)
        for option in ("--save-session", "--load-session"):
            done = brokers.program.run("run", "--device", f"accelerator:{self.path}", option, self.path.with_name("kept"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("what a device computed is neither written nor read", done.stderr)
        done = brokers.program.run("boot", "--icount", "--device", "accelerator")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected --icount or --device, found both", done.stderr)
        done = verify(self.path, "norm", "--variant", "reference")
        self.assertEqual(done.returncode, 2)
        self.assertIn("its worker chooses the row", done.stderr)
        done = brokers.program.run("accelerator", XDG_RUNTIME_DIR="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected --socket PATH", done.stderr)
        self.path.write_text("no socket", encoding="utf-8")
        done = brokers.program.run("accelerator", "--socket", self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("found a file that is none", done.stderr)
        self.path.unlink()
        with Broker(self.path):
            done = brokers.program.run("accelerator", "--socket", self.path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("found a server that answers", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    brokers.program = Program(sys.argv.pop(1))
    run_cases(sys.argv)
