#!/usr/bin/env python3
"""A cast server on an interface of the host: offloads, MTUs, queues, and addresses that are given and taken away.

usage: machine_tap_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64. In a network namespace of its own; exits 77 where there can be none.
"""

import json
import random
import string
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from address_servers import DISCOVER, REQUEST, DhcpServer, Router  # noqa: E402
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from machine import Machine  # noqa: E402
from run_cases import run_cases  # noqa: E402
from tap_network import Capture, Frame, Tap, enter_namespace, read_pcap  # noqa: E402

INGOT = KERNELS = ENGINE = None
HOST_4, GUEST_4, LATER_4 = "192.0.2.1", "192.0.2.10", "192.0.2.11"
HOST_6, GUEST_6 = "2001:db8::1", "2001:db8::10"
OWN_HALF = "5054:ff:fe12:3456"  # of 52:54:00:12:34:56, which the emulator gives its first card
ETHERNET_BYTES = 14
BODY_BYTES = 4 << 20


class Machines(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(INGOT, KERNELS)
        self.addCleanup(self.guest.close)

    def cast(self, *words: str) -> str:
        template = Path(self.guest.path("template"))
        template.write_text("{% for message in messages %}{{ message.content }}{% endfor %}", encoding="utf-8")
        done = self.guest.cast("--serve", "--engine", ENGINE, "--file", f"{template}=/template", "--arg=--template",
                               "--arg=/template", *words)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.guest.path("image")

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
        status, body = machine.ask("POST", "/apply-template", asked, seconds=120)
        self.assertEqual(status, 200, body[:200])
        self.assertTrue(json.loads(body)["prompt"] == text, "expected the text again, found another")

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
        image = self.cast("--address", f"{GUEST_4}/24,{HOST_4}", "--address", f"{GUEST_6}/64,{HOST_6}")
        with Machine(image, "--tap", tap.name, host=GUEST_4) as machine:
            machine.wait_for_text("eth0: virtio, MTU 1500, 1 pairs of queues, checksums, segments\n")
            for version, host in ((4, GUEST_4), (6, GUEST_6)):
                machine.host = host
                with Capture(tap) as capture:
                    self.exchange(machine)
                self.assert_offloaded(capture.frames, version, 1500)
            self.assertEqual(machine.end(), 0, machine.text())

    def test_another_mtu_and_a_pair_of_queues_for_each_cpu(self):
        mtu = 4000
        tap = self.tap("queues0", mtu=mtu, queues=True)
        image = self.cast("--address", f"{GUEST_4}/24,{HOST_4}")
        with Machine(image, "--machine", "q35", "--cpus", "2", "--tap", tap.name, host=GUEST_4) as machine:
            machine.wait_for_text(f"eth0: virtio, MTU {mtu}, 2 pairs of queues, checksums, segments\n")
            with Capture(tap) as capture:
                self.exchange(machine)
            self.assert_offloaded(capture.frames, 4, mtu)
            # A stream of either end belongs to one of the two: one that leads nowhere would leave some unanswered.
            with ThreadPoolExecutor(8) as clients:
                answers = list(clients.map(lambda _: machine.ask("GET", "/v1/models")[0], range(48)))
            self.assertEqual(answers, [200] * 48)


class Addresses(Machines):
    def test_a_lease_is_renewed_and_ends(self):
        tap = self.tap("leases0")
        image = self.cast()
        server = DhcpServer(tap, HOST_4, GUEST_4, lease=(2, 4, 6))
        with server, Machine(image, "--tap", tap.name, host=GUEST_4) as machine:
            server.wait_for("a renewal", lambda asked: asked == (REQUEST, GUEST_4, True))
            server.wait_for("a renewal of that", lambda asked: asked == (REQUEST, GUEST_4, True))
            self.assertEqual(machine.ask("GET", "/health")[0], 200)
            server.is_silent = True
            server.wait_for("a request to any server", lambda asked: asked == (REQUEST, GUEST_4, False))
            server.wait_for("one who begins anew", lambda asked: asked[:2] == (DISCOVER, "0.0.0.0"))
            with self.assertRaises(OSError, msg="expected nobody at an address whose time is over"):
                machine.ask("GET", "/health", seconds=2)
            server.address, server.is_silent = LATER_4, False
            machine.host = LATER_4
            machine.wait_until_ready()
            machine.wait_for_text(f"network: eth0 has {LATER_4}/24\n")

    def test_addresses_by_what_a_router_advertises(self):
        tap = self.tap("router0")
        taken = f"2001:db8:0:1:{OWN_HALF}"  # which the guest would make of the second prefix
        tap.add_address(taken, 64)
        image = self.cast("--address", "slaac")
        kept, own = self.guest.path("frames.pcap"), f"2001:db8::{OWN_HALF}"
        options = ("--tap", tap.name, "--pcap", kept)
        with Router(tap, "2001:db8::", "2001:db8:0:1::"), Machine(image, *options, host=own) as machine:
            machine.wait_for_text(f"eth0: expected {taken} to be free, found another machine that has it\n")
            self.assertEqual(machine.text().count(f"eth0 has {own}/64\n"), 1, "expected it to be told once")
            self.assertNotIn(f"eth0 has {taken}/64\n", machine.text())
            self.exchange(machine)
            machine.host = f"fe80::{OWN_HALF}%{tap.name}"
            named = {"Host": f"[fe80::{OWN_HALF}]"}  # the zone is the asker's own
            self.assertEqual(machine.ask("GET", "/health", headers=named)[0], 200)
            self.assertEqual(machine.end(), 0, machine.text())
        frames = read_pcap(kept)
        self.assertLessEqual({frame[12:14].hex() for frame in frames}, {"0800", "0806", "86dd"}, "expected IP alone")
        self.assertGreater(sum(map(len, frames)), 2 * BODY_BYTES)
        self.assertEqual(max(map(len, frames)), 1500 + ETHERNET_BYTES)


if __name__ == "__main__":
    INGOT, KERNELS, ENGINE = sys.argv[1:4]
    Machine.ingot = INGOT
    if (missing := missing_tool() or enter_namespace()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases([sys.argv[0], *sys.argv[4:]])
