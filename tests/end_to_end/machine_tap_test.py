#!/usr/bin/env python3
"""A cast server on an interface of the host: offloads, MTUs, queues, clients that leave, its own end, and addresses that
are given and taken away.

usage: machine_tap_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64. In a network namespace of its own; exits 77 where there can be none.
"""

import http.client
import json
import random
import signal
import socket
import string
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from address_servers import DISCOVER, REQUEST, DhcpServer, Router
from captures import Capture, Frame, read_pcap
from errands import WAYS_TO_LEAVE, leave
from machine import Machine, ServerMachines, run_machine_tests
from own_network import Tap, enter_namespace
from served import LIMIT_SECONDS, Client

HOST_4, GUEST_4, LATER_4 = "192.0.2.1", "192.0.2.10", "192.0.2.11"
HOST_6, GUEST_6 = "2001:db8::1", "2001:db8::10"
OWN_HALF = "5054:ff:fe12:3456"  # of 52:54:00:12:34:56, which the emulator gives its first card
ETHERNET_BYTES = 14
BODY_BYTES = 4 << 20


class Machines(ServerMachines):
    def cast(self, *words: str) -> str:
        template = Path(self.guest.path("template"))
        template.write_text("{% for message in messages %}{{ message.content }}{% endfor %}", encoding="utf-8")
        return super().cast("--file", f"{template}=/template", "--arg=--template", "--arg=/template", *words)

    def cast_fixed(self) -> str:
        return self.cast("--address", f"{GUEST_4}/24,{HOST_4}", "--address", f"{GUEST_6}/64,{HOST_6}")

    def tap(self, name: str, **options) -> Tap:
        tap = Tap(name, **options)
        self.addCleanup(tap.remove)
        tap.add_address(HOST_4, 24)
        tap.add_address(HOST_6, 64)
        return tap

    def exchange(self, machine: Machine) -> None:
        """A long body each way: a template that repeats what it is given."""
        text = "".join(random.Random(18).choices(string.ascii_letters, k=BODY_BYTES))
        asked = {"messages": [{"role": "user", "content": text}]}
        answer = machine.client.post("/apply-template", asked)
        self.assertEqual(answer.status, 200, answer.body[:200])
        self.assertTrue(answer.json()["prompt"] == text, "expected the text again, found another")

    def assert_offloaded(self, frames: list[Frame], version: int, mtu: int) -> None:
        """Both ends left cutting and sums to the card, and did so for nearly all of it."""
        for is_to_guest in (True, False):
            sent = [frame for frame in frames if frame.is_to_guest == is_to_guest and frame.is_tcp(version)]
            full = [frame for frame in sent if frame.bytes > mtu // 2]
            with self.subTest(version=version, is_to_guest=is_to_guest, frames=len(sent)):
                self.assertGreater(max(frame.bytes for frame in full), 8 * mtu)
                self.assertGreater(sum(frame.bytes for frame in full), BODY_BYTES)
                self.assertLess(len(full), BODY_BYTES // (4 * mtu))
                self.assertTrue(all(frame.lacks_checksum and frame.begins_checksum(version) for frame in full))


class Offloads(Machines):
    def test_packets_longer_than_the_mtu_go_both_ways(self):
        tap = self.tap("offloads0")
        with Machine(self.cast_fixed(), "--tap", tap.name, host=GUEST_4) as machine:
            machine.wait_for_text("eth0: virtio, MTU 1500, 1 pairs of queues, checksums, segments\n")
            for version, host in ((4, GUEST_4), (6, GUEST_6)):
                machine.client.host = host
                with Capture(tap) as capture:
                    self.exchange(machine)
                self.assert_offloaded(capture.frames, version, 1500)
            self.assertEqual(machine.end(), 0, machine.text())

    def test_another_mtu_and_a_pair_of_queues_for_each_cpu(self):
        mtu = 4000
        tap = self.tap("queues0", mtu=mtu, queues=True)
        options = ("--machine", "q35", "--cpus", "2", "--tap", tap.name)
        with Machine(self.cast_fixed(), *options, host=GUEST_4) as machine:
            machine.wait_for_text(f"eth0: virtio, MTU {mtu}, 2 pairs of queues, checksums, segments\n")
            with Capture(tap) as capture:
                self.exchange(machine)
            self.assert_offloaded(capture.frames, 4, mtu)
            # A stream of either end belongs to one of the two: one that leads nowhere would leave some unanswered.
            with ThreadPoolExecutor(8) as clients:
                answers = list(clients.map(lambda _: machine.client.get("/v1/models").status, range(48)))
            self.assertEqual(answers, [200] * 48)


class Clients(Machines):
    MODEL = "tales"
    LONG = {"prompt": "\nOnce there was", "temperature": 0, "max_tokens": 64, "ignore_eos": True}

    def test_who_goes_away_leaves_nothing_and_who_stays_has_his_stream_to_its_end(self):
        tap = self.tap("clients0")
        image = self.cast("--address", f"{GUEST_4}/24,{HOST_4}", "--arg=--drain", "--arg=600")
        with Machine(image, "--tap", tap.name, host=GUEST_4) as machine:
            self.check_leavers(machine.client)
            self.check_end(machine)

    def check_leavers(self, client: Client) -> None:
        """Each way to leave, at each moment: then the server has what it had before."""
        running = f'ingot_num_requests_running{{model_name="{self.MODEL}"}}'
        before = client.wait_until_at_rest(self.MODEL)
        for way in WAYS_TO_LEAVE:
            for events in (0, 3):
                with self.subTest(way=way, events=events):
                    stream = client.open_stream("/v1/completions", {**self.LONG, "max_tokens": 200})
                    client.wait_for_metric(running, lambda value: value == 1)
                    came = b""
                    while came.count(b"data: ") < events:
                        piece = stream.recv(4096)
                        self.assertTrue(piece, "expected a stream that goes on, found its end")
                        came += piece
                    leave(stream, way)
                    after = client.wait_until_at_rest(self.MODEL)
                    self.assertEqual(after["process_open_fds"], before["process_open_fds"])
        # Who vanishes without a word before he has asked is waited for.
        for way in WAYS_TO_LEAVE[:2]:
            for said in (b"", b"GET /health HT", b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"):
                with self.subTest(way=way, said=said):
                    connection = socket.create_connection((client.host, client.port), timeout=LIMIT_SECONDS)
                    connection.sendall(said)
                    leave(connection, way)
                    after = client.wait_until_at_rest(self.MODEL)
                    self.assertEqual(after["process_open_fds"], before["process_open_fds"])
        aborted = f'ingot_request_success_total{{model_name="{self.MODEL}",finished_reason="abort"}}'
        self.assertEqual(after[aborted], before[aborted] + 2 * len(WAYS_TO_LEAVE))

    def check_end(self, machine: Machine) -> None:
        """The power button, in the midst of a stream."""
        stream = machine.client.stream("/v1/completions", {**self.LONG, "stream_options": {"include_usage": True}})
        events = [next(stream)]
        machine.process.send_signal(signal.SIGTERM)
        machine.wait_for_text("power button: pressed\n")
        machine.wait_for_text("for 1 request(s) under way")
        self.wait_until_refused(machine.client)
        events += stream
        self.assertEqual(events[-1], "[DONE]")
        pieces = [json.loads(event) for event in events[:-1]]
        self.assertEqual(pieces[-1]["usage"]["completion_tokens"], self.LONG["max_tokens"])
        ends = [choice["finish_reason"] for piece in pieces for choice in piece["choices"] if choice["finish_reason"]]
        self.assertEqual(ends, ["length"])
        self.assertEqual(machine.process.wait(LIMIT_SECONDS), 0, machine.text())
        self.assertIn("exit 0\n", machine.text())

    def wait_until_refused(self, client: Client) -> None:
        """Who connects while the door is being closed is let in, and sent away again."""
        until = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                found = client.get("/health").status
            except ConnectionRefusedError:
                return
            except (ConnectionResetError, http.client.HTTPException) as error:
                found = error
            self.assertLess(time.monotonic(), until, f"expected a refused connection, found {found}")


class Addresses(Machines):
    def test_a_lease_is_renewed_and_ends(self):
        tap = self.tap("leases0")
        image = self.cast()
        server = DhcpServer(tap, HOST_4, GUEST_4, lease=(2, 4, 6))
        with server, Machine(image, "--tap", tap.name, host=GUEST_4) as machine:
            server.wait_for("a renewal", lambda asked: asked == (REQUEST, GUEST_4, True))
            server.wait_for("a renewal of that", lambda asked: asked == (REQUEST, GUEST_4, True))
            self.assertEqual(machine.client.get("/health").status, 200)
            server.is_silent = True
            server.wait_for("a request to any server", lambda asked: asked == (REQUEST, GUEST_4, False))
            server.wait_for("one who begins anew", lambda asked: asked[:2] == (DISCOVER, "0.0.0.0"))
            with self.assertRaises(OSError, msg="expected nobody at an address whose time is over"):
                machine.client.ask("GET", "/health", seconds=2)
            server.address, server.is_silent = LATER_4, False
            machine.client.host = LATER_4
            machine.wait_until_ready()
            machine.wait_for_text(f"network: eth0 has {LATER_4}/24\n")

    def test_addresses_by_what_a_router_advertises(self):
        tap = self.tap("router0")
        taken = f"2001:db8:0:1:{OWN_HALF}"  # which the guest would make of the second prefix
        tap.add_address(taken, 64)
        image = self.cast("--address", "slaac")
        kept, own = str(self.folder / "frames.pcap"), f"2001:db8::{OWN_HALF}"
        options = ("--tap", tap.name, "--pcap", kept)
        with Router(tap, "2001:db8::", "2001:db8:0:1::"), Machine(image, *options, host=own) as machine:
            machine.wait_for_text(f"eth0: expected {taken} to be free, found another machine that has it\n")
            self.assertEqual(machine.text().count(f"eth0 has {own}/64\n"), 1, "expected it to be told once")
            self.assertNotIn(f"eth0 has {taken}/64\n", machine.text())
            self.exchange(machine)
            machine.client.host = f"fe80::{OWN_HALF}%{tap.name}"
            answer = machine.client.get("/health", Host=f"[fe80::{OWN_HALF}]")  # the zone is the asker's own
            self.assertEqual(answer.status, 200)
            self.assertEqual(machine.end(), 0, machine.text())
        frames = read_pcap(kept)
        self.assertLessEqual({frame[12:14].hex() for frame in frames}, {"0800", "0806", "86dd"}, "expected IP alone")
        self.assertGreater(sum(map(len, frames)), 2 * BODY_BYTES)
        self.assertEqual(max(map(len, frames)), 1500 + ETHERNET_BYTES)


if __name__ == "__main__":
    run_machine_tests(missing=enter_namespace())
