#!/usr/bin/env python3
"""What `ingot cast` and `ingot boot` refuse as bad usage, option by option: exit code 2, one message, nothing begun.

usage: cast_usage_test.py INGOT KERNELS PROGRAM [NAME_OF_TEST...]

KERNELS is the folder of the shipped kernels, PROGRAM tests/programs/hello.cc, built for x86_64.
"""

import json
import platform
import socket
from pathlib import Path

from images import Images, run_image_tests


class Usage(Images):
    def test_bad_usage_of_cast_is_told_apart_and_writes_nothing(self):
        keys, pair = self.path("keys"), ("--certificate", self.path("none"), "--private-key", self.path("none"))
        Path(keys).write_text("sesame\n", encoding="utf-8")
        Path(keys).chmod(0o600)
        for name in ("a", "b"):
            Path(self.path(name)).mkdir()
        twins = [self.path(f"{folder}/model.gguf") for folder in ("a", "b")]
        for words, expected in (
            (["--memory", "much"], "--memory: expected a size such as 512M"),
            (["--format", "floppy"], "--format: expected one of elf, disk, iso, oci, found 'floppy'"),
            ([""], "MODEL: expected the name of a file, found none"),
            (["--program", ""], "--program: expected the name of a file, found none"),
            (["--oci="], "--oci: expected the name of a file, found none"),
            (["--kernel="], "--kernel: expected the name of a file, found none"),
            (["--engine", ""], "--engine: expected the name of a file, found none"),
            (["--loader", ""], "--loader: expected the name of a file, found none"),
            (["--directory", ""], "--directory: expected the name of a file, found none"),
            (["--loader", "x"], "expected --loader with --format disk, found elf"),
            (["--option", "poison"], "ingot boot --option"),
            (["--format", "disk", "--option", "two words"], "--option: expected one word for the kernel, found 'two words'"),
            (["--format", "disk", "--option="], "--option: expected one word for the kernel, found ''"),
            (["--memory=", "1G"], "--memory: expected a size such as 512M, 2G or 65536, found ''"),
            (["--grant=", "network"], "--grant: expected a right's name"),
            (["--address", "dhcp"], "expected --address with --serve or --grant network, found it without"),
            (["--serve", "--address", "192.0.2.0/24,192.0.2.1"], "--address: expected an address that is neither its"),
            (["--serve", "--address="], "--address: expected a way to get an address, found ''"),
            (["--grant", "network", "--address", "dhcp", "--address", "10.0.0.1/8,10.0.0.2"], "--address: expected one way to an"),
            (["--serve", "--address", "slaac", "--address", "slaac"], "--address: expected one way to an address for each"),
            (["--port", "80"], "with --serve or --format oci, found them without"),
            (["--port", "8080"], "with --serve or --format oci, found them without"),
            (["--api-key-file", keys], "with --serve or --format oci, found them without"),
            (["--serve", "--port", "0"], "--port: expected a whole number from 1 to 65535, found '0'"),
            (["--serve", "--port", "1", "--port", "2"], "expected --port once, found it 2 times"),
            (["--serve", "--api-key-file="], "--api-key-file: expected the name of a file, found none"),
            (["--serve", "--api-key-file", self.path("none")], "--api-key-file: "),
            (["--format", "oci", "--api-key-file", self.path("none")], "--api-key-file: "),
            (["--serve", *pair], "--certificate and --private-key: "),
            (["--serve", *pair[:2]], "expected --private-key beside --certificate, found --certificate alone"),
            (["--serve", *pair[2:]], "expected --certificate beside --private-key, found --private-key alone"),
            (["--serve", *twins], f"expected models whose files have different names, found two of '{twins[1]}': rename one"),
            (["--serve", "--arg=--host", "--arg=::1"], "--arg: expected words of serve that cast does not give it, found --host"),
            (["--serve", "--port", "1", "--arg=--port=2"], "--arg: expected words of serve that cast does not give it, found --port"),
            (["--serve", "--arg=--prot", "--arg=1"], "--arg: expected an option of 'ingot serve', found '--prot'. Did you mean '--port'?"),
            (["--serve", "--arg=--drain=soon"], "--arg: ingot serve: --drain: expected a whole number from 0 to 86400, found 'soon'"),
            (["--serve", "--arg=--drain"], "--arg: ingot serve: expected a value behind --drain, found none"),
            (["--format", "oci", "--arg=serve", "--arg=--prot"], "--arg: expected an option of 'ingot serve', found '--prot'"),
            (["--arg=run", "--arg=--tokns=1"], "--arg: expected an option of 'ingot run', found '--tokns=1'. Did you mean '--tokens'?"),
            (["--arg=sevre"], "--arg: expected a command of 'ingot' ("),
            (["--arg=cast"], "--arg: expected a command of 'ingot' ("),
            (twins, "expected one MODEL, or several with --serve, found 2"),
        ):
            self.assert_bad_usage(["cast", *words, "-o", self.path("refused")], expected)
        for output in ("", self.path("none/image"), self.guest.folder.name, self.path("a/")):
            self.assert_bad_usage(["cast", "-o", output], "--output: expected a file to write, in a folder that is there")
        self.assert_bad_usage(["cast"], "expected --output, found none")
        self.assertEqual(sorted(path.name for path in Path(self.guest.folder.name).iterdir()), ["a", "b", "keys", "large"])

    def test_bad_usage_of_boot_is_told_apart_and_starts_nothing(self):
        image = self.path("image")
        self.assertEqual(self.cast("image").returncode, 0)
        for words, expected in (
            ([""], "IMAGE: expected the name of a file, found none"),
            (["--publish", "8080:80"], "expected an IMAGE with --publish, --tap and --pcap, found none"),
            (["--pcap", self.path("frames")], "expected an IMAGE with --publish, --tap and --pcap, found none"),
            ([image, "--kernel", self.kernels], "expected --kernel and --engine without IMAGE, found them beside one"),
            ([image, "--engine", self.program], "expected --kernel and --engine without IMAGE, found them beside one"),
            ([image, "--initrd="], "--initrd: expected the name of a file, found none"),
            ([image, "--initrd", self.path("none")], "--initrd: expected a file that can be read, found '"),
            ([image, "--option", "two words"], "--option: expected one word for the kernel, found 'two words'"),
            ([image, "--option=--"], "--option: expected one word for the kernel, found '--'"),
            ([image, "--icount", "--accelerator", "kvm"], "expected --icount or --accelerator kvm, found both"),
            ([image, "--memory=", "1G"], "--memory: expected a size such as 512M, 2G or 65536, found ''"),
            ([image, "--cpus", "0"], "--cpus: expected 1 to 64 processors"),
            ([image, "--machine", "pc"], "--machine: expected one of microvm, q35, found 'pc'"),
            ([image, image], "expected no more arguments of 'ingot boot'"),
            ([image, "--", "x" * 5000], "on the kernel's command line, found 50"),
        ):
            self.assert_bad_usage(["boot", *words], expected)
        self.assertEqual(self.guest.run("boot", self.path("none")).returncode, 1)  # it could be there
        if not Path("/dev/kvm").exists() or platform.machine() != "x86_64":
            no_kvm = self.guest.run("boot", image, "--accelerator", "kvm")
            self.assertEqual(no_kvm.returncode, 1, no_kvm)
            self.assertIn("--accelerator: expected /dev/kvm and a CPU that virtualises, found none", no_kvm.stderr)

    def test_nothing_is_published_of_a_program_without_a_network(self):
        self.assertEqual(self.cast("image").returncode, 0)
        before = Path(self.path("image")).read_bytes()
        for words, expected in (
            (["--publish", "8080:8080"], "expected an image that was cast with --grant network"),
            (["--publish", "8080"], "--publish: expected [HOST:]PORT:GUEST_PORT"),
            (["--tap", "a/b"], "--tap: expected an interface's name of 1 to 15 letters, found 'a/b'"),
            (["--pcap", self.path("none/frames")], "--pcap: expected a file to write, in a folder that is there"),
            (["--pcap", self.path("image")], "--pcap: output: expected another file than what is read"),
            (["--publish", "8080:8080", "--tap", "tap0"], "expected --publish or --tap, found both"),
        ):
            self.assert_bad_usage(["boot", self.path("image"), *words], expected)
        self.assertEqual(Path(self.path("image")).read_bytes(), before)

    def test_networks_that_cannot_be(self):
        server = self.path("server")
        self.assertEqual(self.cast("server", "--grant", "network").returncode, 0)
        for words, expected in (
            (["--publish", "8080:1", "--publish", "8080:2"], "--publish: expected every port of this machine once, found 127.0.0.1:8080 and"),
            (["--publish", "8080:1", "--publish=0.0.0.0:8080:2"], "found 127.0.0.1:8080 and 0.0.0.0:8080: publish one"),
            (["--publish", "1234:1", "--gdb"], "--publish and --gdb: expected every port of this machine once"),
            (["--tap", "lo"], "--tap: expected a tap, found 'lo', an interface of another kind"),
            (["--tap", "lo", "--dry-run"], "--tap: expected a tap, found 'lo', an interface of another kind"),
        ):
            self.assert_bad_usage(["boot", server, *words], expected)
        with socket.socket() as somebodys:
            somebodys.bind(("127.0.0.1", 0))
            somebodys.listen()
            port = somebodys.getsockname()[1]
            for words in ([], ["--dry-run"], ["--dry-run", "--json"]):
                self.assert_bad_usage(
                    ["boot", server, "--publish", f"{port}:80", *words],
                    f"--publish: expected 127.0.0.1:{port} to be free on this machine, found: Address already in use",
                )
        no_tap = self.guest.run("boot", server, "--tap", "none0")  # which could be there
        self.assertEqual(no_tap.returncode, 1, no_tap)
        self.assertIn("expected an interface 'none0' of this machine, found none: ip tuntap add dev none0", no_tap.stderr)
        self.assertNotIn("qemu-system", no_tap.stderr)
        for number, (address, expected) in enumerate((
            ("10.0.0.1/3,10.0.0.2", "expected a prefix of 4 bits or more in the emulator's own network, found 10.0.0.1/3"),
            ("2001:db8::1/128,fe80::1", "expected a prefix of at most 126 bits in the emulator's own network"),
            ("2001:db8::3/64,fe80::1", "expected neither ::2 nor ::3, which are QEMU's, in the emulator's own network"),
        )):  # fmt: skip
            image = self.path(f"image{number}")
            self.assertEqual(self.cast(image, "--grant", "network", "--address", address).returncode, 0)
            self.assert_bad_usage(["boot", image], expected)
        image = self.path("image1")
        self.assert_bad_usage(["boot", image, "--publish", "8080:80", "--dry-run"], "expected a prefix of at most 126 bits")

    def test_an_empty_value_is_one(self):
        done = self.cast("empty", "--dry-run", "--json", "--arg=", "--arg", "a", "--arg=--b=", "--arg=")
        manifest = json.loads(done.stdout)["manifest"]
        words = [line.partition(" ")[2] for line in manifest.splitlines() if line.startswith("default-argument ")]
        self.assertEqual(words, ["", "a", "--b=", ""])

    def test_a_variable_that_is_given_takes_the_place_of_another(self):
        words = ("--env", "HOME=/srv", "--env", "A=1", "--env", "A=2", "--env", "AB=3", "--file", f"{self.large}=/srv/x")
        manifest = json.loads(self.cast("given", "--dry-run", "--json", *words).stdout)["manifest"]
        given = [line.partition(" ")[2] for line in manifest.splitlines() if line.startswith("environment ")]
        self.assertEqual(given, ["PATH=/bin", "HOME=/srv", "A=2", "AB=3"])


if __name__ == "__main__":
    run_image_tests()
