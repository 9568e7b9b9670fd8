#pragma once

#include <pybind11/pybind11.h>

namespace ingot::python {

// Contracts by their names: run, list, verify.
void add_kernels(pybind11::module_& module);

}  // namespace ingot::python
