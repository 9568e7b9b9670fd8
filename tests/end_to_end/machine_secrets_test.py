#!/usr/bin/env python3
"""Keys and certificates of a cast server: in the image, or in a separate initrd that the boot brings.

usage: machine_secrets_test.py INGOT KERNELS ENGINE [NAME_OF_TEST...]

ENGINE is `ingot` for x86_64.
"""

import ssl
import sys
from pathlib import Path

from captures import read_pcap
from machine import Machine, ServerMachines, run_machine_tests

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "boot"))
from archive import make_archive  # noqa: E402

KEYS, CERTIFICATE, PRIVATE_KEY = "etc/ingot/api-keys", "etc/ingot/certificate.pem", "etc/ingot/private-key.pem"
CAST_KEY, BOOT_KEY = "cast-with-the-image", "brought-at-boot"


class Secrets(ServerMachines):
    def initrd(self, *files: list) -> tuple[str, str]:
        path = self.folder / "secrets"
        path.write_text(make_archive(list(files)), encoding="utf-8")
        return "--initrd", str(path)

    def status_with(self, machine: Machine, key: str) -> int:
        return machine.client.get("/v1/models", Authorization=f"Bearer {key}").status

    def test_keys_of_the_image_and_others_in_their_place(self):
        keys = self.folder / "keys"
        keys.write_text(CAST_KEY + "\n", encoding="utf-8")
        keys.chmod(0o600)
        image = self.cast("--api-key-file", str(keys))
        kept = str(self.folder / "frames.pcap")
        with Machine(image, "--pcap", kept) as machine:
            self.assertEqual(machine.client.get("/v1/models").status, 401)
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
        without = self.guest.boot(image=image)
        self.assertNotIn(without.status, (0, None), without.output)
        self.assertIn("/etc/ingot/", without.output)


if __name__ == "__main__":
    run_machine_tests()
