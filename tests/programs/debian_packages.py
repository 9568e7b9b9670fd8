"""Debian's packages for x86_64, for tests that run what is in them."""

import subprocess
from pathlib import Path

from guest import SKIPPED, missing_tool

FETCH = Path(__file__).parents[2] / "scripts" / "fetch_packages"


def fetch_packages(folder: str, packages: list[str]) -> int:
    """0 where FOLDER/root holds them; else, behind a line that says why, what the test's program is to exit with."""
    missing = missing_tool()
    if missing is None:
        fetched = subprocess.run([FETCH, folder, "amd64", *packages], capture_output=True, text=True, check=False)
        print(fetched.stdout, end="")
        if fetched.returncode not in (0, SKIPPED):
            print(f"FAILED: expected Debian's packages, found\n{fetched.stderr}")
            return 1
        if fetched.returncode == SKIPPED:
            missing = "Debian's packages could not be fetched"
    if missing is not None:
        print(f"SKIPPED: {missing}")
        return SKIPPED
    return 0
