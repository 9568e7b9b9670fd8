#!/usr/bin/env python3
"""Ingot as a library: what is installed, and programs outside of the tree that use it.

usage: library_test.py BUILD SOURCES [unittest arguments]
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from run_cases import run_cases

build = Path()
sources = Path()
PREFIX = "/opt/ingot"
OPENING = "\nOnce there was a thoughtful cook"
C_FLAGS = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]


def run(*words, limit=300, **options):
    words = [str(word) for word in words]
    return subprocess.run(words, capture_output=True, text=True, timeout=limit, check=False, **options)


def install(prefix, destination=""):
    return run(sources / "scripts/install", prefix, destination, build)


class Installed(unittest.TestCase):
    """One installation, as a packer makes it: the files lie elsewhere than where they were made to lie."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.destination = Path(cls.folder.name, "destination")
        done = install(PREFIX, cls.destination)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.prefix = Path(f"{cls.destination}{PREFIX}")
        cls.program = cls.prefix / "bin/ingot"

    def test_nothing_lies_outside_of_the_prefix(self):
        files = [path for path in self.destination.rglob("*") if not path.is_dir()]
        self.assertGreater(len(files), 100)
        self.assertEqual([path for path in files if not path.is_relative_to(self.prefix)], [])

    def test_a_second_time_changes_nothing(self):
        done = install(PREFIX, self.destination)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\d+ files, 0 new or changed\n")

    def test_a_prefix_that_cannot_be_written_is_one_error(self):
        in_the_way = Path(self.folder.name, "file")
        in_the_way.touch()
        for prefix in (in_the_way / "prefix", "relative"):
            done = install(prefix)
            self.assertEqual((done.returncode, done.stdout), (1, ""), prefix)
            self.assertRegex(done.stderr, r"^install: expected .* found .*\n$")

    def test_the_program_finds_what_it_casts_beside_itself(self):
        image = Path(self.folder.name, "tales.img")
        done = run(self.program, "cast", "-o", image, env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(image.stat().st_size, 1_000_000)

    def test_every_command_has_its_page(self):
        pages = self.prefix / "share/man/man1"
        names = re.findall(r"^  (\S+) {2,}\S", run(self.program, "--help").stdout.partition("Subcommands:\n")[2], re.M)
        self.assertGreater(len(names), 15)
        for name in names:
            page = (pages / f"ingot-{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
            self.assertIn(f"\n.SH NAME\ningot-{name} - ", page)
            for option in re.findall(r"^  (-\S+)", run(self.program, name, "--help").stdout, re.M):
                self.assertIn(f"\\fB{option}", page, name)
        self.assertIn("ingot-run", (pages / "ingot.1").read_text(encoding="utf-8").replace("\\-", "-"))

    @unittest.skipUnless(shutil.which("groff"), "expected the program groff, found none")
    def test_pages_are_roff(self):
        for page in sorted((self.prefix / "share/man/man1").glob("*.1")):
            done = run("groff", "-man", "-ww", "-z", "-Tutf8", page)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_completions_are_what_the_program_writes(self):
        for shell, place in (
            ("bash", "share/bash-completion/completions/ingot"),
            ("zsh", "share/zsh/site-functions/_ingot"),
        ):
            self.assertEqual((self.prefix / place).read_text(), run(self.program, "completion", shell).stdout)

    def test_programs_outside_of_the_tree_find_the_package(self):
        folder = Path(self.folder.name, "examples")
        shutil.copytree(sources / "bindings/examples", folder)
        done = run(
            "cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={' '.join(C_FLAGS)}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run("cmake", "--build", folder / "build", limit=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = run(self.program, "run", "-n", "24", "-p", OPENING, "--json").stdout
        text = re.search(r'"text": "(.*)"', said)[1]
        for name in ("generate_c", "generate"):
            done = run(folder / "build" / name)
            self.assertEqual((done.returncode, done.stdout.replace("\n", "\\n")), (0, text), done.stderr)
            done = run(folder / "build" / name, "/nowhere")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("/nowhere", done.stderr)
        done = run(folder / "build/verify")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("passed   reference", done.stdout)

    def test_a_program_in_c11_is_served_and_refused(self):
        done = self.compile_and_run("-I", self.prefix / "include", "-L", self.prefix / "lib", "-lingot")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(done.stdout), 20)

    @unittest.skipUnless(shutil.which("pkg-config"), "expected the program pkg-config, found none")
    def test_pkg_config_knows_it(self):
        folder = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "ingot", env=folder)
        self.assertEqual(flags.returncode, 0, flags.stderr)
        self.assertEqual(self.compile_and_run(*flags.stdout.split()).returncode, 0)

    @unittest.skipUnless(shutil.which("pkg-config"), "expected the program pkg-config, found none")
    def test_what_the_page_says_of_other_prefixes_is_enough(self):
        page = (sources / "docs/library.md").read_text(encoding="utf-8")
        lines = re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1].replace(PREFIX, str(self.prefix))
        folder = Path(self.folder.name, "elsewhere")
        shutil.copytree(sources / "bindings/examples", folder)
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        done = run("sh", "-e", "-c", lines + "./generate", cwd=folder, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(len(done.stdout), 20)

    def compile_and_run(self, *flags):
        program = Path(self.folder.name, "c_program")
        done = run("cc", *C_FLAGS, sources / "tests/end_to_end/c_program.c", "-o", program, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run(program, Path(self.folder.name, "saved.session"), sources / "tests/goldens", env={**os.environ, "LD_LIBRARY_PATH": str(self.prefix / "lib")})


class Documents(unittest.TestCase):
    def test_the_page_shows_the_examples(self):
        page = (sources / "docs/library.md").read_text(encoding="utf-8")
        for name, language in (("generate.c", "c"), ("generate.cc", "cpp")):
            example = (sources / "bindings/examples" / name).read_text(encoding="utf-8")
            self.assertIn(f"```{language}\n{example}```\n", page)


class Called(unittest.TestCase):
    """The shared library as the build leaves it, called by what is not C."""

    def setUp(self):
        self.library = ctypes.CDLL(str(build / "lib/libingot.so"))
        self.error = ctypes.create_string_buffer(4 + 512)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments, self.error)
        self.assertEqual(status, 0, self.error.raw[4:].partition(b"\0")[0])

    def test_the_functions_of_the_header_are_all_that_it_shows(self):
        header = (sources / "bindings/c/ingot.h").read_text(encoding="utf-8")
        declared = set(re.findall(r"^INGOT_API .*?\b(ingot_\w+)\(", header, re.M))
        self.assertGreater(len(declared), 30)
        listed = run("nm", "-D", "--defined-only", build / "lib/libingot.so").stdout.split()[2::3]
        self.assertEqual(set(listed), declared)

    def test_python_reads_logits_where_they_lie(self):
        model, session = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("ingot_model_open", None, ctypes.byref(model))
        self.call("ingot_session_open", model, None, ctypes.byref(session))
        self.addCleanup(self.library.ingot_model_close, model)
        self.addCleanup(self.library.ingot_session_close, session)
        tokens, count = (ctypes.c_int32 * 64)(), ctypes.c_size_t()
        text = OPENING.encode()
        self.call(
            "ingot_tokenize", model, text, ctypes.c_size_t(len(text)), 0, tokens, ctypes.c_size_t(64), ctypes.byref(count)
        )
        sequence, logits = ctypes.c_int32(), ctypes.POINTER(ctypes.c_float)()
        rows, columns = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("ingot_sequence_add", session, ctypes.byref(sequence))
        self.call(
            "ingot_forward", session, sequence, tokens, count, 1, ctypes.byref(logits), ctypes.byref(rows),
            ctypes.byref(columns),
        )  # fmt: skip
        self.assertEqual(rows.value, count.value)
        first = logits[: columns.value]
        self.assertTrue(all(abs(value) < 1e4 for value in first))
        self.assertGreater(len(set(first)), 100)
        self.assertEqual(self.library.ingot_model_close(session), 11)

    def test_a_fork_is_refused_and_does_not_wait(self):
        model, session, number = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int32()
        self.call("ingot_model_open", None, ctypes.byref(model))
        self.addCleanup(self.library.ingot_model_close, model)
        self.call("ingot_session_open", model, None, ctypes.byref(session))
        self.addCleanup(self.library.ingot_session_close, session)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            status = self.library.ingot_sequence_add(session, ctypes.byref(number), self.error)
            is_told = status == 1 and b"found a fork" in self.error.raw
            os._exit(0 if is_told and self.library.ingot_session_close(session) == 0 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_words_are_utf_8_where_they_are_cut(self):
        json = ctypes.c_void_p()
        for beginning in ("a", "ab"):
            name = (beginning + "\u00e9" * 400).encode()
            self.assertEqual(self.library.ingot_contracts(name, ctypes.byref(json), self.error), 5)
            self.assertIn("\u00e9" * 100, self.error.raw[4:].partition(b"\0")[0].decode())


if __name__ == "__main__":
    build, sources = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
    run_cases(sys.argv)
