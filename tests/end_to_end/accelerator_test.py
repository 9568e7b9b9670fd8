#!/usr/bin/env python3
"""ingot accelerator as a user runs it: a broker, clients that come and go, and what is told where somebody is killed.

usage: accelerator_test.py PATH_OF_INGOT [unittest arguments]
"""

import contextlib
import http.client
import json
import mmap
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402
from scrapes import Scrape  # noqa: E402

program = None
LIMIT_SECONDS = 60
EMULATOR = "qemu-system-x86_64"


class Broker:
    """The broker, which tells of its clients a line each."""

    def __init__(self, path, *options):
        self.path = str(path)
        self.process = subprocess.Popen(
            [program.path, "accelerator", "--socket", self.path, "--threads", "2", "--json", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.listening = self.told()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def told(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"expected a line of the broker, found its end: {self.process.stderr.read()!r}")
        return json.loads(line)

    def ask(self, method="GET", path="/metrics", **headers) -> http.client.HTTPResponse:
        """Of a broker with metrics; the answer was read whole, and stands in .text."""
        connection = http.client.HTTPConnection(self.listening["metrics"], timeout=LIMIT_SECONDS)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            answer.text = answer.read().decode()
            return answer
        finally:
            connection.close()

    def scrape(self) -> Scrape:
        answer = self.ask()
        if answer.status != 200:
            raise AssertionError(f"expected metrics, found {answer.status}: {answer.text}")
        return Scrape(answer.text)

    def visitor(self, sends: bytes) -> socket.socket:
        """A connection to its metrics, over which something was sent."""
        host, port = self.listening["metrics"].rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=LIMIT_SECONDS)
        connection.sendall(sends)
        return connection

    def end(self, by=signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait(timeout=LIMIT_SECONDS)


def verify(path, *words):
    return program.run("verify", *words, "--device", f"accelerator:{path}", "--seed", "3")


def asked(machine, command, arguments=None):
    """What QEMU's monitor answers; what it tells unasked is passed over."""
    machine.stdin.write(json.dumps({"execute": command, "arguments": arguments or {}}))
    machine.stdin.flush()
    while "return" not in (answer := json.loads(machine.stdout.readline())):
        pass
    return answer["return"]


def shared_memory(client: socket.socket) -> mmap.mmap:
    """What a broker greets a client with, whole and to be written: the only descriptor behind a -1."""
    while True:
        word, descriptors, _, _ = socket.recv_fds(client, 8, 1)
        if descriptors and int.from_bytes(word, "little", signed=True) == -1:
            shared = mmap.mmap(descriptors[0], 0)
            os.close(descriptors[0])
            return shared
        for descriptor in descriptors:
            os.close(descriptor)


def asked_of_server(port: int, path: str, body: bytes | None = None) -> int:
    """The status of what a server answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


class Accelerator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "accelerator"

    def start_verify(self):
        """A client that has much to do, and has begun."""
        client = subprocess.Popen(
            [program.path, "verify", "linear", "--device", f"accelerator:{self.path}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(client.kill)
        return client

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
        words = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', program.path, "accelerator", "--socket", str(self.path)]
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
        alone = program.run(*words)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        with Broker(self.path) as broker:
            through = program.run(*words, *device)
            self.assertEqual((through.returncode, through.stdout), (0, alone.stdout), through.stderr)
            self.assertEqual(broker.told()["event"], "came")
            left = broker.told()
            self.assertGreater(left["lists"], 20)  # a pass that came before is a packet
            self.assertEqual(left["refusals"], 0)
            measured = program.run("bench", "model", "--prompt", "16", "--generate", "8", "--repeat", "1", "--json", *device)
            self.assertEqual(measured.returncode, 0, measured.stderr)
            self.assertNotIn("bandwidth_percent", json.loads(measured.stdout))
            proved = program.run("verify", "model", "--cuts", "1,5", "--batches", "2", *device)
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
            server = subprocess.Popen([program.path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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

    def assert_never_falls(self, before: Scrape, after: Scrape):
        for name, value in before.totals().items():
            self.assertGreaterEqual(after.samples[name], value, name)

    def wait_for_scrape(self, broker, is_as_wanted) -> Scrape:
        until = time.monotonic() + LIMIT_SECONDS
        while not is_as_wanted(scrape := broker.scrape()):
            self.assertLess(time.monotonic(), until, scrape.samples)
            time.sleep(0.01)
        return scrape

    def test_its_metrics_tell_clients_apart_and_totals_never_fall(self):
        with Broker(self.path, "--metrics", "0", "--clients", "2") as broker:
            answer = broker.ask()
            self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            scrapes = [Scrape(answer.text)]
            self.assertEqual(set(scrapes[0].totals().values()), {0})
            client = self.start_verify()
            worker = broker.told()["worker"]
            labels = f'{{client="1",worker="{worker}"}}'

            def of_client(scrape, what):
                return scrape.samples.get(f"ingot_accelerator_client_{what}{labels}", 0)

            scrapes.append(self.wait_for_scrape(broker, lambda scrape: of_client(scrape, "dispatches_total") > 5))
            now = scrapes[-1]
            self.assertEqual(now.samples["ingot_accelerator_clients"], 1)
            for what in ("packets_total", "heartbeats_total", "busy_seconds_total", "mapped_bytes", "busy_share"):
                self.assertGreater(of_client(now, what), 0, what)
            self.assertLessEqual(of_client(now, "busy_share"), 1)
            # One more, and one too many.
            second, third = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
            with second, third:
                for each in (second, third):
                    each.connect(str(self.path))
                self.assertEqual([broker.told()["event"] for _ in range(2)], ["came", "refused"])
                scrapes.append(broker.scrape())
                self.assertEqual(scrapes[-1].samples["ingot_accelerator_clients"], 2)
                self.assertEqual(scrapes[-1].samples["ingot_accelerator_clients_refused_total"], 1)
            self.assertEqual(broker.told()["client"], 2)
            client.kill()
            left = broker.told()
            self.assertEqual((left["event"], left["client"]), ("left", 1))
            scrapes.append(broker.scrape())
            done = verify(self.path, "norm.rms_norm", "--reduced")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(broker.told()["event"], "came")
            gone = broker.told()
            scrapes.append(broker.scrape())
            last = scrapes[-1].samples
            self.assertEqual(last["ingot_accelerator_clients"], 0)
            self.assertEqual(last["ingot_accelerator_clients_accepted_total"], 3)
            self.assertEqual(last["ingot_accelerator_packets_total"], left["packets"] + gone["packets"])
            self.assertNotIn("{", "".join(last))  # of nobody who has left
            for before, after in zip(scrapes, scrapes[1:]):
                self.assert_never_falls(before, after)
            self.assertEqual(broker.end(), 0)

    def test_a_client_that_writes_its_own_counts_breaks_no_line_and_no_total(self):
        generator = random.Random(7)
        with Broker(self.path, "--metrics", "127.0.0.1:0") as broker:
            with socket.socket(socket.AF_UNIX) as liar:
                liar.connect(str(self.path))
                shared = shared_memory(liar)
                self.assertEqual(shared[:8], b"INGOTACC")
                before = broker.scrape()
                for _ in range(100):
                    kind = generator.randrange(3)
                    for offset in (0x88, *range(0x180, 0x1B8, 8)):  # WorkerWords' counts (base/accelerator/layout.h)
                        shared[offset : offset + 8] = (bytes(8), b"\xff" * 8, generator.randbytes(8))[kind]
                    after = broker.scrape()
                    self.assert_never_falls(before, after)
                    before = after
                # A lie is no larger than the time in which it could have been true.
                self.assertLess(after.samples["ingot_accelerator_packets_total"], 1e9 * 600)
                self.assertGreater(after.samples["ingot_accelerator_packets_total"], 0)
                shared.close()
            self.assertEqual([broker.told()["event"] for _ in range(2)], ["came", "left"])
            self.assert_never_falls(after, broker.scrape())

    def test_who_asks_for_metrics_slowly_or_wrongly_stops_nobody(self):
        with Broker(self.path, "--metrics", "0") as broker, contextlib.ExitStack() as open_ones:
            for sends in (b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: ") * 20:
                open_ones.enter_context(broker.visitor(sends))
            for _ in range(3):
                self.assertEqual(broker.scrape().samples["ingot_accelerator_clients"], 0)
            with broker.visitor(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 300_000) as huge:
                self.assertTrue(huge.makefile("rb").read().startswith(b"HTTP/1.1 431 "))
            with broker.visitor(b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n") as body:
                self.assertTrue(body.makefile("rb").read().startswith(b"HTTP/1.1 413 "))
            for status, asked in (
                (404, {"path": "/"}), (405, {"method": "POST"}), (403, {"Host": "example.org"}),
                (403, {"Origin": "https://example.org"}),
            ):  # fmt: skip
                self.assertEqual(broker.ask(**asked).status, status, asked)
            open_ones.enter_context(broker.visitor(b"GET /"))  # slow ones are there still
            done = verify(self.path, "norm.rms_norm", "--reduced")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(broker.end(), 0)

    def test_metrics_are_where_they_were_asked_for_or_nowhere(self):
        with Broker(self.path) as broker:
            self.assertNotIn("metrics", broker.listening)
        with Broker(self.path, "--metrics", "127.0.0.1:0") as broker:
            self.assertTrue(broker.listening["metrics"].startswith("127.0.0.1:"))
            broker.scrape()
            other = self.path.with_name("other")
            done = program.run("accelerator", "--socket", other, "--metrics", broker.listening["metrics"])
            self.assertEqual(done.returncode, 1)
            self.assertIn("--metrics: expected a free port, found", done.stderr)
            self.assertFalse(other.exists())
        done = program.run("accelerator", "--socket", self.path, "--metrics", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected an address and a port, such as 127.0.0.1:9100", done.stderr)
        done = program.run("accelerator", "--socket", self.path, "--metrics", "localhost:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected a numeric address to listen on", done.stderr)

    def test_what_is_wrong_is_said(self):
        done = verify(self.path, "norm")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"expected somebody who listens at {self.path}", done.stderr)
        done = program.run("verify", "norm", "--device", "accelerator")  # of the machine that this runs on
        self.assertEqual(done.returncode, 1)
        self.assertIn("cast the image with --grant accelerator, boot it with --device accelerator", done.stderr)
        done = program.run("verify", "--device", "accelerator:")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected the path of its socket behind accelerator:", done.stderr)
        done = program.run("explain", "--device", f"accelerator:{self.path}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is for an accelerator's worker to choose", done.stderr)
        done = program.run("run", "--device", f"accelerator:{self.path}", "-p", "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"expected somebody who listens at {self.path}", done.stderr)
        for option in ("--save-session", "--load-session"):
            done = program.run("run", "--device", f"accelerator:{self.path}", option, self.path.with_name("kept"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("what a device computed is neither written nor read", done.stderr)
        done = program.run("boot", "--icount", "--device", "accelerator")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected --icount or --device, found both", done.stderr)
        done = verify(self.path, "norm", "--variant", "reference")
        self.assertEqual(done.returncode, 2)
        self.assertIn("its worker chooses the row", done.stderr)
        done = program.run("accelerator", XDG_RUNTIME_DIR="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected --socket PATH", done.stderr)
        self.path.write_text("no socket", encoding="utf-8")
        done = program.run("accelerator", "--socket", self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("found a file that is none", done.stderr)
        self.path.unlink()
        with Broker(self.path):
            done = program.run("accelerator", "--socket", self.path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("found a server that answers", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = Program(sys.argv.pop(1))
    run_cases(sys.argv)
