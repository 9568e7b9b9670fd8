#!/usr/bin/env python3
"""`ingot cast` and `ingot boot` as a user meets them: equal bytes for equal inputs, refusals that say why, a boot.

usage: cast_test.py INGOT KERNELS PROGRAM [NAME_OF_TEST...]

KERNELS is the folder of the shipped kernels, PROGRAM tests/programs/hello.cc, built for x86_64.
"""

import json
import os
import platform
import shlex
import shutil
import unittest
from pathlib import Path

from images import Images, run_image_tests
from running_machine import free_port

needs_programs_of_x86_64 = unittest.skipUnless(platform.machine() == "x86_64", "SKIPPED: needs a machine of x86_64")


class Cast(Images):
    def test_equal_inputs_give_equal_bytes_at_once(self):
        for words in ([], ["--format", "disk"]):
            done = self.cast("first", "--json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.cast("second", *words).returncode, 0)
            self.assertEqual(Path(self.path("first")).read_bytes(), Path(self.path("second")).read_bytes())
            report = json.loads(done.stdout)
            self.assertEqual(report["bytes"], os.path.getsize(self.path("first")))
            large = {"path": "/large", "bytes": 3 << 20, "address": report["segments"][-1]["address"]}
            self.assertIn(large, report["segments"])

    def test_an_image_is_little_more_than_engine_and_model(self):
        done = self.guest.cast("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        beside = report["bytes"] - sum(segment["bytes"] for segment in report["segments"])
        self.assertLessEqual(beside, 576 << 10)  # os/budgets.txt: the kernel

    def hole(self, name: str, size: int) -> str:
        """A file that is larger than it is on the disk."""
        with open(self.path(name), "wb") as file:
            file.truncate(size)
        return self.path(name)

    def test_refusals_leave_nothing_and_say_why(self):
        foreign = bytearray(Path(self.program).read_bytes())
        foreign[18] = 183
        Path(self.path("foreign")).write_bytes(foreign)
        Path(self.path("text")).write_text("#!/bin/sh\n", encoding="utf-8")
        free = shutil.disk_usage(self.guest.folder.name).free
        for words, reason in (
            (["--memory", "4M"], "MiB of memory"),
            (["--file", "/no/such=/x"], "No such file or directory"),
            (["--file", "x"], "SOURCE=DESTINATION"),
            (["--program", "/no/such"], "No such file or directory"),
            (["--program", self.path("foreign")], "found one for aarch64"),
            (["--program", self.path("text")], "ELF"),
            (["--file", f"{self.hole('vast', free + (1 << 30))}=/vast"], "of free disk in"),
            (["--format", "disk", "--file", f"{self.hole('big', 5 << 30)}=/big"], "4 GiB"),
            (["--option", "poison"], "ingot boot --option"),
            (["--kernel", self.program], "expected a kernel with a PVH entry note"),
            (["--grant", "telepathy"], "expected a kernel that can grant telepathy; found minimal (kmsg, "),
            (["--serve"], "expected --program or --serve, found both: leave one of them out"),
            (["--engine", "/no/such"], "No such file or directory"),
            (["--file", f"{self.large}=/bin/hello"], "expected '/bin/hello' to be free for the program"),
            (["--file", f"{self.large}=/x", "--file", f"{self.program}=/x"], "--file: expected a destination of its own"),
            (["--consume", "/nosuch"], "--consume: expected the path of a file of 2 MiB or more in the image (/"),
            (["--directory", "/nosuch"], "--directory: expected a folder of the image for the program to start in"),
            (["--directory", "/tmp"], "found none at '/tmp': --tmpfs makes it"),
            (["--env", "GREET"], "--env: expected NAME=VALUE, found 'GREET'"),
            (["--grant", ""], "--grant: expected a right's name of a-z, 0-9 and '-', found ''"),
            (["--cpus", "256"], "--cpus: expected 1 to 64 processors, as many as the kernel uses, found 256"),
            (["--cpus", "few"], "--cpus: expected 1 to 64 processors, found 'few'"),
            (["--engine", self.program, "--program", self.program], "expected --program or --engine, found both: leave one of them out"),
            (["--program", self.program, "--root", "/no/such"], "--root: expected a folder, found none at '/no/such'"),
            (["--limit", "1K"], "KiB that the program starts with, found 1024 bytes"),
            (["--root", "/", "--oci", "/no/such"], "expected --program beside --root, found --root alone"),
        ):
            with self.subTest(words):
                program = [] if words[0] in ("--program", "--engine", "--root") else ["--program", self.program]
                kernel = [] if words[0] == "--kernel" else ["--kernel", self.kernels]
                done = self.guest.run("cast", *program, *words, *kernel, "-o", self.path("refused"))
                is_usage = done.stderr.startswith("error: ingot cast: ") or words[0] == "--option"
                self.assertEqual(done.returncode, 2 if is_usage else 1, done)
                self.assertIn(reason, done.stderr)
                self.assertNotIn("manifest, line", done.stderr)
                self.assertFalse(Path(self.path("refused")).exists())

    def test_nothing_that_is_read_is_replaced(self):
        program = self.path("program")
        shutil.copy(self.program, program)
        kernel = self.path("kernel")
        shutil.copy(Path(self.kernels) / "minimal", kernel)
        os.symlink(program, self.path("link"))
        os.link(self.large, self.path("twin"))
        words = ["cast", "--program", program, "--kernel", kernel, "--file", f"{self.large}=/large", "-o"]
        for name in ("program", "link", "kernel", "large", "twin"):
            before = Path(self.path(name)).read_bytes()
            done = self.guest.run(*words, self.path(name))
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("output: expected another file than what is read, found '", done.stderr)
            self.assertEqual(Path(self.path(name)).read_bytes(), before)

    def test_a_machine_that_halts_ends_the_boot(self):
        self.assertEqual(self.cast("image").returncode, 0)
        # An emulator whose guest panics before it knows how to end: it would stay for ever.
        emulator = Path(self.path("bin")) / "qemu-system-x86_64"
        emulator.parent.mkdir()
        emulator.write_text(
            "#!/bin/sh\n"
            "echo 'panic: boot: out of memory' >/dev/fd/30\n"
            "echo 'warning: power: expected to be off, found the machine running: halted' >/dev/fd/30\n"
            "exec sleep 3600\n"
        )
        emulator.chmod(0o755)
        path = f"{emulator.parent}:{os.environ['PATH']}"
        done = self.guest.run("boot", self.path("image"), env={**os.environ, "PATH": path}, timeout=100)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("from the kernel, found 'panic: boot: out of memory'", done.stderr)

    def test_no_machine_has_less_memory_than_the_image_takes(self):
        self.assertEqual(self.cast("image").returncode, 0)
        done = self.guest.run("boot", self.path("image"), "--memory", "4M")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("MiB of memory for the image and the kernel, found 4 MiB", done.stderr)

    def test_the_engine_and_its_model_keep_their_places(self):
        for place in ("/bin/ingot", "/bin"):
            done = self.guest.cast("--file", f"{self.large}={place}")
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(f"expected '/bin/ingot' to be free for the program, found something else at '{place}'", done.stderr)

    def test_a_folder_of_a_model_is_refused_with_the_command_that_helps(self):
        done = self.guest.cast(self.guest.folder.name)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"ingot quantize '{self.guest.folder.name}' model.gguf BF16", done.stderr)

    def test_nobody_is_warned_of_the_engine(self):
        done = self.guest.cast("--dry-run", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["missing_calls_with_a_fallback"], ["clone3", "rseq"])
        self.assertNotIn("clone3", self.cast("dry", "--dry-run").stderr)

    def test_no_machine_has_more_processors_than_the_kernel_uses(self):
        self.assertEqual(self.cast("image", "--cpus", "64").returncode, 0)
        done = self.guest.run("boot", self.path("image"), "--cpus", "65", "--dry-run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--cpus: expected 1 to 64 processors, as many as the kernel uses, found 65", done.stderr)

    def test_the_smallest_kernel_that_has_what_is_granted_is_taken(self):
        def kernel_for(*words: str) -> dict:
            done = self.cast("chosen", "--dry-run", "--json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["kernel"]

        self.assertEqual(kernel_for()["name"], "minimal")
        self.assertEqual(kernel_for("--grant", "kmsg")["name"], "minimal")
        taken = kernel_for("--grant", "pci")
        self.assertEqual((taken["name"], taken["grants"]), ("full", ["accelerator", "kmsg", "network", "pci", "writable-executable"]))
        passed_over = {kernel["name"]: kernel["reason"] for kernel in taken["passed_over"]}
        self.assertEqual(passed_over["minimal"], "lacks pci")
        self.assertGreater(taken["bytes"], taken["passed_over"][0]["bytes"])
        self.assertIn("(minimal lacks pci)", self.cast("chosen", "--dry-run", "--grant", "pci").stdout)
        self.assertIn("(the smallest)", self.cast("chosen", "--dry-run").stdout)
        # One that is asked for is taken, or refused where it lacks something.
        words = ["cast", "--program", self.program, "--dry-run", "-o", self.path("chosen"), "--kernel"]
        asked = self.guest.run(*words, str(Path(self.kernels) / "full"), "--json")
        self.assertEqual(json.loads(asked.stdout)["kernel"]["name"], "full")
        refused = self.guest.run(*words, str(Path(self.kernels) / "minimal"), "--grant", "pci")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("expected a kernel that can grant pci; found minimal", refused.stderr)

    def test_a_server_is_cast_with_its_network_and_its_keys(self):
        refused = self.guest.run("cast", "--serve", "--kernel", str(Path(self.kernels) / "minimal"), "-o", self.path("server"))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("expected a kernel that can grant network; found minimal", refused.stderr)
        keys = Path(self.path("keys"))
        keys.write_text("sesame\n", encoding="utf-8")
        words = ["cast", "--serve", "-o", self.path("server"), "--json"]
        open_to_all = self.guest.run(*words, "--api-key-file", str(keys))
        self.assertEqual(open_to_all.returncode, 2)
        self.assertIn("expected a key file that its owner alone can read", open_to_all.stderr)
        keys.chmod(0o600)
        done = self.guest.run(*words, "--api-key-file", str(keys), "--port", "80", "--address", "slaac", "--arg", "--alias=x")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"whoever has {self.path('server')} has its keys", done.stderr)
        report = json.loads(done.stdout)
        arguments = [line.partition(" ")[2] for line in report["manifest"].splitlines() if line.startswith("default-argument ")]
        self.assertEqual(arguments, ["serve", "--host", "::", "--port", "80", "--api-key-file", "/etc/ingot/api-keys", "--alias=x"])
        self.assertIn("\ngrant network\nnetwork slaac\n", report["manifest"])
        self.assertIn("\ndescriptors 65536\n", report["manifest"])
        self.assertEqual(report["kernel"]["name"], "full")
        image = Path(self.path("server")).read_bytes()
        name = image.index(b"etc/ingot/api-keys\0")
        self.assertEqual(int(image[name - 110 + 14 : name - 110 + 22], 16), 0o100600)  # cpio's newc: the mode
        self.assertTrue(b"sesame\n" in image[name : name + 40])
        # A quarter of the machine is the server's cache, and the rest holds what it needs.
        run = json.loads(self.guest.cast("--json", "--dry-run").stdout)["machine_memory"]
        self.assertGreater(report["machine_memory"], run)
        quiet = self.guest.run(*words)
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))
        manifest = json.loads(quiet.stdout)["manifest"]
        self.assertIn("\nnetwork dhcp\n", manifest)
        self.assertIn("\ndefault-argument 0.0.0.0\n", manifest)

        port = free_port()
        words = ["boot", self.path("server"), "--dry-run", "--publish", f"{port}:8080", "--pcap", "frames"]
        published = self.guest.run(*words)
        self.assertEqual(published.returncode, 0, published.stderr)
        self.assertIn(f"-netdev user,id=network,hostfwd=tcp:127.0.0.1:{port}-:8080 ", published.stdout)
        self.assertIn("-object filter-dump,id=capture,netdev=network,file=frames", published.stdout)

    def test_a_dry_run_checks_and_writes_nothing(self):
        done = self.cast("dry", "--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["dry_run"])
        self.assertFalse(Path(self.path("dry")).exists())
        self.assertEqual(self.cast("dry", "--dry-run", "--memory", "4M").returncode, 1)

    def test_what_no_engine_can_read_is_not_cast(self):
        done = self.guest.cast(__file__)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cast_test.py': magic: expected 'GGUF'", done.stderr)

    def test_a_dry_boot_says_what_it_would_start(self):
        self.assertEqual(self.cast("image", "--memory", "128M", "--cpus", "3").returncode, 0)
        words = ["boot", self.path("image"), "--dry-run", "--accelerator", "tcg"]
        done = self.guest.run(*words, "--json", "--", "two words")
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = json.loads(done.stdout)
        self.assertEqual((plan["format"], plan["memory"], plan["cpus"], plan["accelerator"]), ("elf", 128 << 20, 3, "tcg"))
        self.assertIn("debug-exit -- two%20words", plan["command"])
        line = self.guest.run(*words, "--", "two words").stdout
        self.assertEqual(shlex.split(line), plan["command"])
        self.assertEqual(self.guest.run("boot", "--dry-run").returncode, 2)
        self.assertEqual(self.guest.run("boot", "--json").returncode, 2)

    def test_a_cast_image_starts(self):
        self.assertEqual(self.cast("image", "--memory", "128M", "--arg", "cast").returncode, 0)
        ended = self.guest.boot("two words", "a,b=c", "", "ü", "\x1b[31mred\x1b[0m")
        self.assertIn("ingot: starting", ended.log)
        self.assertIn("-- two%20words", ended.log)
        self.assertIn("hello: two words a,b=c  ü red\n", ended.output)  # a pipe shows no colours
        self.assertEqual(ended.status, 7)
        self.assertIn("hello: cast\n", self.guest.boot().output)

    @needs_programs_of_x86_64
    def test_a_dynamic_program_brings_its_interpreter_and_libraries(self):
        self.assertEqual(self.guest.cast("--program", "/bin/ls").returncode, 0)
        ended = self.guest.boot("two words")
        self.assertIn("cannot access 'two words'", ended.output)
        self.assertEqual(ended.status, 2)

    def test_a_trace_names_calls_arguments_and_answers(self):
        done = self.guest.cast("--trace", image="traced")
        self.assertEqual(done.returncode, 0, done.stderr)
        words = ["run", "-n", "1", "--threads", "1"]
        ended = self.guest.boot(*words, image="traced")
        self.assertEqual(ended.status, 0, ended.log)
        for line in (
            r"\[1\] mmap\(0x0, \d+, 3, 34, -1, 0\) = 0x7[0-9a-f]{11} <\d+ us>",
            r"\[1\] openat\(-100, \"/[^\"]+\", [^)]*\) = (\d+|-1 ENOENT) <",
            r"\[1\] write\(1, 0x[0-9a-f]+, \d+\) = \d+ <\d+ us>",
            r"\[1\] exit_group\(0\) = ",
        ):
            self.assertRegex(ended.log, line)


class Disks(Images):
    """Loaders of disks and discs have a command line of their own: arguments reach the program all the same."""

    def boot_from(self, image_format: str):
        done = self.cast("disk", "--format", image_format, "--arg", "cast", "--option", "a-word")
        if "install" in done.stderr:
            self.skipTest(f"SKIPPED: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        ended = self.guest.boot("two words", "a,b=c", "", "ü", image="disk")
        if "install" in ended.log:
            self.skipTest(f"SKIPPED: {ended.log.strip()}")
        self.assertIn("a-word", ended.log)
        self.assertIn("hello: two words a,b=c  ü\n", ended.output)
        self.assertEqual(ended.status, 7, ended.log)
        self.assertIn("hello: cast\n", self.guest.boot(image="disk").output)
        self.assertEqual(self.guest.run("boot", self.path("disk"), "--option", "poison").returncode, 2)

    def test_a_disk_boots_with_arguments(self):
        self.boot_from("disk")

    def test_a_disc_boots_with_arguments(self):
        self.boot_from("iso")


if __name__ == "__main__":
    run_image_tests()
