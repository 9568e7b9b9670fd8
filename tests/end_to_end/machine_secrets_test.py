#!/usr/bin/env python3
"""Keys and certificates of a cast server: in the image, or in a separate initrd that the boot brings.

usage: machine_secrets_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64.
"""

import ssl
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "programs"), str(TESTS / "boot")]
from archive import make_archive  # noqa: E402
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from machine import Machine  # noqa: E402
from run_cases import run_cases  # noqa: E402
from tap_network import read_pcap  # noqa: E402

INGOT = KERNELS = ENGINE = None
KEYS, CERTIFICATE, PRIVATE_KEY = "etc/ingot/api-keys", "etc/ingot/certificate.pem", "etc/ingot/private-key.pem"
CAST_KEY, BOOT_KEY = "cast-with-the-image", "brought-at-boot"


class Secrets(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(INGOT, KERNELS)
        self.addCleanup(self.guest.close)

    def cast(self, *words: str) -> str:
        done = self.guest.cast("--serve", "--engine", ENGINE, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.guest.path("image")

    def initrd(self, *files: list) -> tuple[str, str]:
        path = Path(self.guest.path("secrets"))
        path.write_text(make_archive(list(files)), encoding="utf-8")
        return "--initrd", str(path)

    def status_with(self, machine: Machine, key: str) -> int:
        return machine.ask("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})[0]

    def test_keys_of_the_image_and_others_in_their_place(self):
        keys = Path(self.guest.path("keys"))
        keys.write_text(CAST_KEY + "\n", encoding="utf-8")
        keys.chmod(0o600)
        image = self.cast("--api-key-file", str(keys))
        kept = self.guest.path("frames.pcap")
        with Machine(image, "--pcap", kept) as machine:
            self.assertEqual(machine.ask("GET", "/v1/models")[0], 401)
            self.assertEqual(self.status_with(machine, CAST_KEY), 200)
            self.assertEqual(self.status_with(machine, BOOT_KEY), 401)
            self.assertEqual(machine.end(), 0, machine.text())
        passed = b"".join(read_pcap(kept))
        self.assertIn(f"Authorization: Bearer {CAST_KEY}".encode(), passed)
        self.assertIn(b"HTTP/1.1 200 ", passed)
        with Machine(image, *self.initrd([KEYS, BOOT_KEY + "\n", 0o600])) as machine:
            self.assertEqual(self.status_with(machine, BOOT_KEY), 200)
            self.assertEqual(self.status_with(machine, CAST_KEY), 401)

    def test_a_certificate_and_keys_that_the_image_does_not_hold(self):
        words = ["--certificate", "/" + CERTIFICATE, "--private-key", "/" + PRIVATE_KEY, "--api-key-file", "/" + KEYS]
        image = self.cast(*(f"--arg={word}" for word in words))
        certificate = TESTS / "server" / "localhost_certificate.pem"
        secrets = self.initrd(
            [CERTIFICATE, certificate.read_text(encoding="ascii")],
            [PRIVATE_KEY, (TESTS / "server" / "localhost_key.pem").read_text(encoding="ascii"), 0o600],
            [KEYS, BOOT_KEY + "\n", 0o600],
        )
        trusted = ssl.create_default_context(cafile=certificate)
        try:
            with Machine(image, *secrets, tls=trusted) as machine:
                self.assertEqual(self.status_with(machine, BOOT_KEY), 200)
                self.assertEqual(self.status_with(machine, "another"), 401)
        except AssertionError as error:
            if "expected a program that was built with OpenSSL" not in str(error):
                raise
            self.skipTest("expected an engine with TLS, found one that was built on another architecture")
        without = self.guest.boot()
        self.assertNotIn(without.status, (0, None), without.output)
        self.assertIn("/etc/ingot/", without.output)


if __name__ == "__main__":
    INGOT, KERNELS, ENGINE = sys.argv[1:4]
    Machine.ingot = INGOT
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases([sys.argv[0], *sys.argv[4:]])
