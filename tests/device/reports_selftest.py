#!/usr/bin/env python3
"""check_reports.py finds what it is for.

usage: reports_selftest.py [unittest arguments]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent / "end_to_end")]
from check_reports import compare, read_report  # noqa: E402
from run_cases import run_cases  # noqa: E402

REPORT = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'rows' for 'sm_80'
ptxas info    : Function properties for rows
    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers, {shared} bytes smem, 688 bytes cmem[0]
"""

# Many numbers that live at once, and few registers for them.
SPILLING = """
extern "C" __global__ void __launch_bounds__(1024) rows(const float* x, float* y) {
  float kept[96];
  #pragma unroll
  for (int i = 0; i < 96; ++i) kept[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 96; ++i) y[(95 - i) * 1024 + threadIdx.x] = kept[i] * kept[(i * 7 + 3) % 96];
}
"""


def report(stack=0, stores=0, loads=0, registers=40, shared=2048):
    return REPORT.format(stack=stack, stores=stores, loads=loads, registers=registers, shared=shared)


class Reports(unittest.TestCase):
    def test_within_what_every_function_has(self):
        self.assertEqual(compare("", report()), [])

    def test_each_kind_of_excess_is_told(self):
        for excess, text in (
            ({"registers": 65}, "rows (sm_80): expected at most 64 registers, found 65"),
            ({"shared": 20000}, "rows (sm_80): expected at most 16384 bytes of shared memory, found 20000"),
            ({"stack": 8}, "rows (sm_80): expected at most 0 bytes of stack, found 8"),
            ({"stores": 4}, "rows (sm_80): expected at most 0 bytes spilled, found 4"),
            ({"loads": 4}, "rows (sm_80): expected at most 0 bytes spilled, found 4"),
        ):
            self.assertEqual(compare("", report(**excess)), [text])

    def test_a_budget_allows_what_it_names_and_no_more(self):
        source = "// Budget of rows, others: 168 registers, 43 KiB\n// shared, 40 bytes stack. Sums of a tile.\n"
        both = report(registers=168, shared=43 * 1024, stack=40)
        both += both.replace("'rows'", "'others'")
        self.assertEqual(compare(source, both), [])
        self.assertEqual(len(compare(source, report(registers=169, shared=43 * 1024 + 1, stack=41))), 4)
        self.assertEqual(len(compare(source, both.replace("0 bytes spill stores", "8 bytes spill stores"))), 2)

    def test_a_budget_of_nobody_and_one_that_is_not_understood_are_told(self):
        told = compare("// Budget of columns: 70 registers. Why.", report())
        self.assertEqual(told, ["columns: expected a function of that name for its budget, found none"])
        with self.assertRaises(ValueError):
            compare("// Budget of rows: many registers. Why.", report())

    def test_a_report_without_a_function_is_told(self):
        self.assertEqual(len(compare("", "")), 1)

    def test_a_function_that_spills_is_found_by_the_compiler_itself(self):
        nvcc = os.environ.get("INGOT_NVCC") or shutil.which("nvcc")
        if nvcc is None:
            self.skipTest("expected nvcc on the path or named by INGOT_NVCC, found neither")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "rows.cu"
            source.write_text(SPILLING, encoding="utf-8")
            command = [nvcc, "-cubin", "-arch=sm_80", "-Xptxas", "-v", "-o", f"{folder}/rows.cubin", str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        told = done.stdout + done.stderr
        self.assertEqual(list(read_report(told)), [("rows", "sm_80")], told)
        self.assertTrue(any("bytes spilled" in line for line in compare("", told)), told)


if __name__ == "__main__":
    run_cases(sys.argv)
