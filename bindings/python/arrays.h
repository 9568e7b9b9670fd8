// Arrays of Python's and views of ours, of the same memory. By Python's buffer protocol, which NumPy keeps through all
// its versions, and which arrays of other libraries reach by DLPack and NumPy.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string_view>
#include <vector>

#include "bindings/python/failure.h"
#include "tensor/any_view.h"

namespace ingot::python {

// Bytes that hold rows of a type which NumPy has not: a block format, or bf16.
struct Blocks {
  pybind11::object bytes;  // an array of uint8; its last axis is one row
  DType dtype;
};

// The memory of an array, which nobody can resize or free meanwhile.
class BorrowedBuffer {
 public:
  // Constant memory as well: who asked to read must not write it.
  enum class Use : std::uint8_t { read, write };
  BorrowedBuffer(std::string_view name, pybind11::handle object, Use use);
  BorrowedBuffer(BorrowedBuffer&& other) noexcept
      : buffer_(other.buffer_), is_held_(std::exchange(other.is_held_, false)) {}
  BorrowedBuffer& operator=(BorrowedBuffer&&) = delete;
  ~BorrowedBuffer() {
    if (is_held_) PyBuffer_Release(&buffer_);
  }
  const Py_buffer* operator->() const { return &buffer_; }

 private:
  Py_buffer buffer_{};
  bool is_held_ = false;
};

// An array in use by a call. `name`: of what, for errors. Takes NumPy's arrays and whatever else has a buffer, Blocks,
// and what has DLPack.
class BorrowedArray {
 public:
  using Use = BorrowedBuffer::Use;
  BorrowedArray(std::string_view name, pybind11::handle object, Use use);
  AnyView view() const { return view_; }

 private:
  BorrowedBuffer buffer_;
  AnyView view_;
};

// A new array of NumPy's, whose elements nobody has written yet, by its function `empty`.
pybind11::object new_array(const pybind11::object& empty, DType dtype, const Shape& shape);

// Numbers that were computed here, and belong to Python from now on.
struct Floats {
  std::vector<float> numbers;
  pybind11::ssize_t rows = 0;
  pybind11::ssize_t columns = 0;
};

void add_arrays(pybind11::module_& module);

}  // namespace ingot::python
