#!/usr/bin/env python3
"""Proves that check_floors.py catches what it exists to catch, on small trees made for the purpose."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKER = Path(__file__).resolve().parent / "check_floors.py"

FLOORS = """
base 0
machine 1
tensor 1
kernels/contract 2.0
kernels/linear 2.1
kernels/norm 2.1
kernels/quantization 2.1
kernels 2.2
profile 3
cli 6
os 8 only base
tests-may-include profile
allow kernels/linear -> kernels/quantization  # decoders
"""

HEADERS = [
    "base/result.h", "machine/machine.h", "tensor/view.h", "kernels/contract/variant.h", "kernels/norm/rms_norm.h",
    "kernels/linear/matmul/matmul.h", "kernels/quantization/blocks.h", "kernels/operations.h", "profile/verify.h",
    "cli/verify.h", "os/main.h",
]


class CheckFloors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("docs/floors.txt", FLOORS)
        for header in HEADERS:
            self.write(header, "#pragma once\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check(self):
        done = subprocess.run([sys.executable, CHECKER, self.root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_passes(self, path, include):
        self.write(path, f"{include}\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def assert_caught(self, path, include, *expected):
        self.write(path, f"// first line\n{include}\n")
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn(f"{path}:2: expected", output)
        self.assertIn("1 violations", output)
        for text in expected:
            self.assertIn(text, output)

    def test_a_lower_floor_may_be_included(self):
        self.assert_passes("profile/verify.cc", '#include "base/result.h"')

    def test_its_own_folder_may_be_included(self):
        self.assert_passes("kernels/norm/rms_norm.cc", '#include "kernels/norm/rms_norm.h"')

    def test_a_family_may_include_the_contract(self):
        self.assert_passes("kernels/norm/rms_norm.cc", '#include "kernels/contract/variant.h"')

    def test_the_list_of_operations_may_include_every_family(self):
        self.assert_passes("kernels/operations.cc", '#include "kernels/norm/rms_norm.h"')

    def test_an_include_that_climbs_is_caught(self):
        self.assert_caught(
            "base/text.cc", '#include "tensor/view.h"', "base (floor 0)", 'found "tensor/view.h" of tensor (floor 1)'
        )

    def test_the_contract_may_not_include_a_family(self):
        self.assert_caught("kernels/contract/variant.cc", '#include "kernels/norm/rms_norm.h"', "norm (floor 2.1)")

    def test_a_neighbour_on_the_same_floor_is_caught(self):
        self.assert_caught("tensor/shape.cc", '#include "machine/machine.h"', "only floors below 1")

    def test_another_family_is_caught(self):
        self.assert_caught("kernels/norm/rms_norm.cc", '#include "kernels/linear/matmul/matmul.h"', "kernels/linear")

    def test_a_listed_exception_passes(self):
        self.assert_passes("kernels/linear/matmul/matmul.cc", '#include "kernels/quantization/blocks.h"')

    def test_an_exception_holds_in_one_direction_only(self):
        self.assert_caught("kernels/quantization/blocks.cc", '#include "kernels/linear/matmul/matmul.h"')

    def test_spacing_and_angle_brackets_hide_nothing(self):
        self.assert_caught("base/text.cc", "  #  include <cli/verify.h>")

    def test_only_means_only(self):
        self.assert_passes("os/boot.cc", '#include "base/result.h"')
        self.assert_caught("os/boot.cc", '#include "tensor/view.h"', "only base")

    def test_nobody_in_the_house_includes_the_os(self):
        self.assert_caught("cli/boot.cc", '#include "os/main.h"')

    def test_a_test_may_include_its_floor_and_the_profile_helpers(self):
        self.assert_passes("kernels/norm/rms_norm_test.cc", '#include "kernels/linear/matmul/matmul.h"')
        self.assert_passes("kernels/norm/rms_norm_test.cc", '#include "profile/verify.h"')

    def test_a_test_may_not_climb_further(self):
        self.assert_caught("kernels/norm/rms_norm_test.cc", '#include "cli/verify.h"', "a test")

    def test_a_path_relative_to_the_file_is_caught(self):
        self.assert_caught("kernels/norm/rms_norm.cc", '#include "rms_norm.h"', "path from the root")

    def test_headers_of_libraries_are_no_concern(self):
        self.assert_passes("base/text.cc", '#include <string_view>\n#include "hwy/highway.h"')

    def test_a_folder_without_a_floor_is_caught(self):
        self.write("attic/old.cc", "int x;\n")
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn("attic/old.cc:1: expected a folder that docs/floors.txt lists", output)

    def test_build_products_are_not_read(self):
        self.write("build/generated.cc", '#include "cli/verify.h"\n')
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_bad_line_in_the_list_is_an_error(self):
        self.write("docs/floors.txt", FLOORS + "engine four\n")
        status, output = self.check()
        self.assertEqual(status, 2, output)
        self.assertIn("expected a floor such as 2 or 2.1, found 'four'", output)

    def test_an_exception_for_an_unknown_folder_is_an_error(self):
        self.write("docs/floors.txt", FLOORS + "allow cli -> attic\n")
        status, output = self.check()
        self.assertEqual(status, 2, output)
        self.assertIn("'attic'", output)


if __name__ == "__main__":
    unittest.main()
