// The module _ingot: what the package ingot is made of. It translates and holds no logic of its own.
#include <pybind11/pybind11.h>

#include "base/version.h"
#include "bindings/python/arrays.h"
#include "bindings/python/kernels.h"
#include "bindings/python/model.h"
#include "bindings/python/text_stream.h"

#if defined(__GLIBC__)
// The C library's own says whether the process has one thread. What the compiler makes for programs reads it by an
// address that a module cannot have (docs/decisions/041-a-python-package.md). This one says that there may be more,
// which is always right.
extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded;  // NOLINT(bugprone-reserved-identifier)
char __libc_single_threaded = 0;                                               // NOLINT(bugprone-reserved-identifier)
#endif

namespace {

namespace py = pybind11;

// An exception of Python's with the words of the error, and what kind of mistake it is as `code`.
void raise_error(py::handle type, const ingot::Error& error) {
  // A long text is cut, within a character if it happens so.
  const auto size = static_cast<py::ssize_t>(error.text().size());
  const auto text = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(error.text().data(), size, "replace"));
  const py::object raised = type(text);
  raised.attr("code") = ingot::name_of(error.code());
  PyErr_SetObject(type.ptr(), raised.ptr());
}

}  // namespace

PYBIND11_MODULE(_ingot, module) {
  module.doc() = "What the package ingot is made of; use that.";
  module.attr("__version__") = ingot::version;
  const py::object error = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "ingot.Error",
      "What went wrong: what was expected, what was found, and where. `code` says which kind of mistake.",
      PyExc_Exception, nullptr));
  module.attr("Error") = error;
  // The translator has no state, and what is thrown may be later than all names in the module.
  static const PyObject* const type = py::object(error).release().ptr();
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const ingot::python::Failure& failure) {
      raise_error(py::handle(const_cast<PyObject*>(type)), failure.error);
    }
  });
  ingot::python::add_arrays(module);
  ingot::python::add_text_stream(module);
  ingot::python::add_models(module);
  ingot::python::add_kernels(module);
}
