"""Runs the cases of a unittest program as CTest should see them: a skipped case is no passed one."""

import sys
import unittest

SKIPPED = 77  # as automake and CTest have it


class CountingResult(unittest.TextTestResult):
    """testsRun leaves out the cases of a class that was skipped or failed as a whole, so passed ones are counted."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def run_cases(arguments: list[str]) -> None:
    """Ends the program: 1 where a case failed or none ran, else 77 where one was skipped, else 0; with a line of counts."""
    runner = unittest.TextTestRunner(resultclass=CountingResult, verbosity=2)
    result = unittest.main(module="__main__", argv=arguments, testRunner=runner, exit=False).result
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    for case, reason in result.skipped:
        print(f"SKIPPED {case}: {reason.removeprefix('SKIPPED: ')}")
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    if failed or not (result.passed or result.skipped):
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped else 0)
