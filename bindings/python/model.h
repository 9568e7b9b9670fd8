#pragma once

#include <pybind11/pybind11.h>

namespace ingot::python {

// Models, tokenizers and sessions.
void add_models(pybind11::module_& module);

}  // namespace ingot::python
