"""What pip asks for a wheel (PEP 517): CMake builds the module, and this packs it. It needs nothing but CMake, a C++ compiler
and what scripts/packages names; docs/decisions/041-a-python-package.md says why it is an own one.

What `make build` or `make test` has compiled is linked as it is, then this takes seconds; else it is compiled first.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Debian's pybind11 knows the Pythons of its time.
NEWEST_FOR_DEBIAN = (3, 11)


def project(field: str) -> str:
    """A text of pyproject.toml's [project]: Python has a reader of such files from 3.11 on."""
    found = re.search(rf'^{field} = "(.*)"$', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        sys.exit(f"expected {field} in pyproject.toml, found none")
    return found[1]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Only what this machine lacks."""
    tools = [tool for tool in ("cmake", "ninja") if shutil.which(tool) is None]
    has_headers = Path("/usr/include/pybind11/pybind11.h").exists() and sys.version_info[:2] <= NEWEST_FOR_DEBIAN
    return tools + ([] if has_headers else ["pybind11>=2.12"])


def built_tree(jobs: list[str]) -> Path:
    """The build whose objects are linked: that of the tree, or one without tests where there is none yet."""
    build = ROOT / "build"
    if not (build / "build.ninja").exists():
        build = ROOT / "build" / "wheel"
        configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DINGOT_TESTS=OFF"]
        subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", build, "--target", "python_parts", *jobs], check=True)
    return build


def build_package() -> Path:
    """The folder that holds the package with its module."""
    jobs = ["--parallel", os.environ.get("INGOT_JOBS", str(os.cpu_count() or 1))]
    build = built_tree(jobs)
    tag = sys.implementation.cache_tag
    folder = ROOT / "build" / "wheel" / str(tag)
    shutil.rmtree(folder, ignore_errors=True)  # the Python of an earlier one may be gone
    # fmt: off
    subprocess.run(
        ["cmake", "-S", HERE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         f"-DINGOT_BUILD={build}", f"-DINGOT_PYTHON={sys.executable}"],
        check=True,
    )
    # fmt: on
    subprocess.run(["cmake", "--build", folder, *jobs], check=True)
    return folder / "python" / "ingot"


def wheel_tag() -> str:
    interpreter = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{interpreter}-{interpreter}-{platform}"


def metadata() -> str:
    return (
        f"Metadata-Version: 2.1\nName: {project('name')}\nVersion: {project('version')}\n"
        f"Summary: {project('description')}\nRequires-Python: {project('requires-python')}\nRequires-Dist: numpy\n"
    )


def record_row(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Writes the wheel, and returns its name."""
    package = build_package()
    files = {
        f"ingot/{path.name}": path.read_bytes()
        for path in sorted(package.iterdir())
        if path.is_file()
    }
    information = f"{project('name')}-{project('version')}.dist-info"
    files[f"{information}/METADATA"] = metadata().encode()
    wheel = f"Wheel-Version: 1.0\nGenerator: ingot\nRoot-Is-Purelib: false\nTag: {wheel_tag()}\n"
    files[f"{information}/WHEEL"] = wheel.encode()
    record = "".join(record_row(name, content) for name, content in files.items()) + f"{information}/RECORD,,\n"
    files[f"{information}/RECORD"] = record.encode()
    name = f"{project('name')}-{project('version')}-{wheel_tag()}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """PEP 517 wants it to be here."""
    raise NotImplementedError("expected a wheel to be asked for: the sources are those of the whole tree, a checkout of it")
