#!/usr/bin/env python3
"""What an accelerator's broker tells Prometheus, whatever its clients and those who ask do.

usage: accelerator_metrics_test.py PATH_OF_INGOT [unittest arguments]
"""

import contextlib
import mmap
import os
import random
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import brokers  # noqa: E402
from brokers import LIMIT_SECONDS, Broker, WithPath, verify  # noqa: E402
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402
from scrapes import Scrape  # noqa: E402


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


class Metrics(WithPath):
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
            done = brokers.program.run("accelerator", "--socket", other, "--metrics", broker.listening["metrics"])
            self.assertEqual(done.returncode, 1)
            self.assertIn("--metrics: expected a free port, found", done.stderr)
            self.assertFalse(other.exists())
        done = brokers.program.run("accelerator", "--socket", self.path, "--metrics", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected an address and a port, such as 127.0.0.1:9100", done.stderr)
        done = brokers.program.run("accelerator", "--socket", self.path, "--metrics", "localhost:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected a numeric address to listen on", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    brokers.program = Program(sys.argv.pop(1))
    run_cases(sys.argv)
