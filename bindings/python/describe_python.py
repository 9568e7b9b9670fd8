"""Prints what CMake has to know of the Python that runs this: where it lies, the suffix of its modules, and where headers are.

Fails where headers, pybind11 or NumPy are missing.
"""

import importlib
import importlib.util
import os
import sys
import sysconfig


def pybind11_folder() -> str:
    """Its package's own headers; else where Debian has them."""
    if importlib.util.find_spec("pybind11") is not None:
        return str(importlib.import_module("pybind11").get_include())
    return "/usr/include"


python, pybind11 = sysconfig.get_path("include"), pybind11_folder()
for header in (os.path.join(python, "Python.h"), os.path.join(pybind11, "pybind11", "pybind11.h")):
    if not os.path.exists(header):
        sys.exit(f"expected {header}, found no such file")
# A wheel is made where NumPy need not be installed; what is built to be tested needs it.
if "--without-numpy" not in sys.argv and importlib.util.find_spec("numpy") is None:
    sys.exit("expected NumPy, found none")
print(sys.executable, sysconfig.get_config_var("EXT_SUFFIX"), python, pybind11, sep=";")
