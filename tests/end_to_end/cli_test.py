#!/usr/bin/env python3
"""Runs the ingot program as a user would and checks what it prints and how it exits.

usage: cli_test.py PATH_OF_INGOT [--linking static|dynamic] [unittest arguments]
"""

import argparse
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from run_cases import run_cases

OPERATION = "norm.rms_norm"
COMMAND_LIMIT_SECONDS = 120
ESCAPE = "\x1b"
PROGRAM_HEADER_INTERPRETER = 3  # PT_INTERP of the ELF specification: present where a dynamic loader is asked for

program = Path()
linking = "static"


def environment(**changes):
    """This process's environment without what switches colours, plus the changes."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR_FORCE")}
    return {**kept, "TERM": "xterm-256color", **changes}


def run(*arguments):
    return subprocess.run(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_LIMIT_SECONDS,
        env=environment(),
        check=False,
    )


def run_on_terminal(*arguments, **changes):
    """What the program writes when its output is a terminal."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [program, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=environment(**changes)
    )
    os.close(terminal)
    pieces = []
    try:
        while piece := os.read(controller, 65536):
            pieces.append(piece)
    except OSError:
        pass  # Linux answers EIO when the last writer has closed the terminal
    finally:
        os.close(controller)
    process.wait(timeout=COMMAND_LIMIT_SECONDS)
    return b"".join(pieces).decode("utf-8", errors="replace")


def program_header_types(path):
    """The types of a 64-bit little-endian ELF file's program headers."""
    image = path.read_bytes()
    if image[:6] != b"\x7fELF\x02\x01":
        raise AssertionError(f"{path}: expected a 64-bit little-endian ELF file, found {image[:6]!r}")
    (offset,) = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<HH", image, 0x36)
    return [struct.unpack_from("<I", image, offset + index * size)[0] for index in range(count)]


class CommandLineTest(unittest.TestCase):
    def assert_exit(self, done, status):
        self.assertEqual(
            done.returncode, status, f"arguments: {done.args[1:]}\nstdout:\n{done.stdout}\nstderr:\n{done.stderr}"
        )

    def assert_keys(self, value, keys):
        missing = set(keys) - value.keys()
        self.assertFalse(missing, f"expected the keys {sorted(keys)}, found {sorted(value)}")

    def json_of(self, *arguments):
        done = run(*arguments)
        self.assert_exit(done, 0)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError as error:
            self.fail(f"{arguments}: expected JSON alone on stdout, found {error}:\n{done.stdout[:2000]}")


class Door(CommandLineTest):
    def test_help_lists_the_subcommands(self):
        done = run("--help")
        self.assert_exit(done, 0)
        for subcommand in ("kernels", "verify", "bench", "machine"):
            self.assertIn(subcommand, done.stdout)

    def test_an_unknown_subcommand_exits_2_and_says_so_on_stderr(self):
        done = run("no-such-subcommand")
        self.assert_exit(done, 2)
        self.assertIn("no-such-subcommand", done.stderr)

    def test_the_program_is_statically_linked(self):
        if linking == "dynamic":
            self.skipTest("sanitizers need a dynamic program")
        self.assertNotIn(PROGRAM_HEADER_INTERPRETER, program_header_types(program))


class Kernels(CommandLineTest):
    def test_json_lists_operations_with_their_variants(self):
        operations = self.json_of("kernels", "--json")["operations"]
        self.assertGreater(len(operations), 0)
        for operation in operations:
            self.assert_keys(operation, ("name", "family", "variants"))
            self.assertTrue(operation["name"].startswith(operation["family"] + "."), operation["name"])
            for variant in operation["variants"]:
                self.assert_keys(variant, ("name", "needs", "built", "available", "selected"))
        names = [operation["name"] for operation in operations]
        self.assertEqual(len(names), len(set(names)), "expected each operation once")
        self.assertIn(OPERATION, names)

    def test_every_operation_has_a_reference_that_is_always_available(self):
        for operation in self.json_of("kernels", "--json")["operations"]:
            references = [variant for variant in operation["variants"] if variant["name"] == "reference"]
            self.assertEqual(len(references), 1, operation["name"])
            self.assertTrue(references[0]["built"] and references[0]["available"], operation["name"])

    def test_one_available_variant_of_each_operation_is_selected(self):
        for operation in self.json_of("kernels", "--json")["operations"]:
            selected = [variant for variant in operation["variants"] if variant["selected"]]
            self.assertEqual(len(selected), 1, operation["name"])
            self.assertTrue(selected[0]["built"] and selected[0]["available"], operation["name"])

    def test_a_selection_is_shown_as_one_of_many(self):
        self.assertIn("selects for the first of their cases", run("kernels").stdout)
        self.assertIn("typically selected", run("kernels", OPERATION).stdout)
        self.assertIn("Shown is a typical choice", run("kernels", "--help").stdout)

    def test_an_operation_can_be_asked_for_by_name(self):
        names = [operation["name"] for operation in self.json_of("kernels", OPERATION, "--json")["operations"]]
        self.assertEqual(names, [OPERATION])


class Verify(CommandLineTest):
    def test_json_counts_passed_failed_and_skipped_apart(self):
        report = self.json_of("verify", OPERATION, "--json", "--seed", "1")
        self.assert_keys(report, ("passed", "failed", "skipped", "rows"))
        self.assertEqual(report["failed"], 0)
        self.assertGreater(report["passed"], 0)
        for row in report["rows"]:
            self.assert_keys(row, ("operation", "variant", "status", "worst_epsilons", "cases"))
            self.assertEqual(row["operation"], OPERATION)
            self.assertIn(row["status"], ("passed", "failed", "skipped"))
        for status in ("passed", "failed", "skipped"):
            counted = sum(row["status"] == status for row in report["rows"])
            self.assertEqual(report[status], counted, f"expected the rows to add up for {status}")

    def test_the_same_seed_gives_the_same_report(self):
        first = self.json_of("verify", OPERATION, "--json", "--seed", "7")
        self.assertEqual(first["rows"], self.json_of("verify", OPERATION, "--json", "--seed", "7")["rows"])

    def test_a_variant_beyond_the_limit_ends_the_run_with_the_report_so_far(self):
        done = run("verify", "--json", "--seed", "7", "--limit", "0.000001")
        self.assert_exit(done, 1)
        report = json.loads(done.stdout)
        failed = [row for row in report["rows"] if row["status"] == "failed"]
        self.assertEqual(len(failed), 1)
        self.assertIn("still running", failed[0]["detail"])
        self.assertIn(f"ingot verify {failed[0]['operation']} ", failed[0]["detail"])
        self.assertIn("--seed 7", failed[0]["detail"])
        self.assertIn("ended early", done.stderr)

    def test_an_unknown_operation_exits_2_and_names_it(self):
        done = run("verify", "no.such_operation")
        self.assert_exit(done, 2)
        self.assertIn("no.such_operation", done.stderr)

    def test_of_one_variant_nothing_else_is_told(self):
        report = self.json_of("verify", OPERATION, "--variant", "reference", "--json")
        self.assertEqual([row["variant"] for row in report["rows"]], ["reference"])

    def test_a_variant_that_runs_elsewhere_is_named(self):
        for words in (("verify", OPERATION), ("bench", OPERATION, "--quick")):
            for json_or_text in ((), ("--json",)):
                done = run(*words, "--variant", "cuda", *json_or_text)
                self.assert_exit(done, 1)
                self.assertRegex(done.stderr, "expected a variant called 'cuda' of .* that runs on .*, found none")

    def test_an_unknown_variant_is_an_error_that_says_so(self):
        done = run("verify", OPERATION, "--variant", "nonsense")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("nonsense", done.stderr)
        self.assertRegex(done.stderr, "(?i)unknown|no variant|not found|no such")


class Bench(CommandLineTest):
    def test_json_names_the_machine_and_measures_each_row(self):
        report = self.json_of("bench", OPERATION, "--quick", "--json")
        self.assert_keys(report, ("machine", "rows"))
        self.assertIsInstance(report["machine"], dict)
        self.assertGreater(len(report["rows"]), 0)
        for row in report["rows"]:
            self.assert_keys(
                row,
                ("operation", "variant", "shape", "threads", "median_ns", "spread", "gflops", "gbytes_per_second",
                 "roofline_percent"),
            )
            self.assertEqual(row["operation"], OPERATION)
            self.assertGreater(row["median_ns"], 0)
            self.assertGreaterEqual(row["threads"], 1)

    def test_html_is_one_page_that_asks_nothing_of_the_network(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "bench.html"
            self.assert_exit(run("bench", OPERATION, "--quick", "--html", str(page)), 0)
            text = page.read_text(encoding="utf-8")
        self.assertIn("<svg", text)
        self.assertIn("</html>", text)
        references = set(re.findall(r"https?://[^\s\"'<>)]*", text))
        self.assertLessEqual(references, {"http://www.w3.org/2000/svg"})

    def test_a_page_that_cannot_be_written_is_an_error(self):
        done = run("bench", OPERATION, "--quick", "--html", "/no/such/folder/bench.html")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("/no/such/folder/bench.html", done.stderr)


class Colour(CommandLineTest):
    def test_no_escape_codes_when_the_output_is_not_a_terminal(self):
        for arguments in (("--help",), ("kernels",), ("verify", OPERATION), ("verify", "no.such_operation")):
            done = run(*arguments)
            self.assertNotIn(ESCAPE, done.stdout + done.stderr, arguments)

    def test_no_color_is_respected_on_a_terminal(self):
        for arguments in (("kernels", OPERATION), ("verify", OPERATION)):
            output = run_on_terminal(*arguments, NO_COLOR="1")
            self.assertIn(OPERATION, output)
            self.assertIsNone(re.search(ESCAPE + r"\[[0-9;]*m", output), arguments)


def main():
    global program, linking
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--linking", choices=("static", "dynamic"), default="static")
    arguments, rest = parser.parse_known_args()
    program, linking = arguments.program.resolve(), arguments.linking
    if not os.access(program, os.X_OK):
        sys.exit(f"cli_test: expected an executable at {program}, found none")
    run_cases([sys.argv[0], *rest])


if __name__ == "__main__":
    main()
