"""Running commands of a page as somebody would who copied them from it."""

import os
import subprocess

from served import LIMIT_SECONDS


def put_on_path(program, folder):
    """So that `ingot` is found there by its name."""
    (folder / "bin").mkdir()
    (folder / "bin" / "ingot").symlink_to(program.path)


def run_as_shown(command, folder):
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", command], cwd=folder, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip
