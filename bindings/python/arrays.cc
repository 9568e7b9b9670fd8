#include "bindings/python/arrays.h"

#include <algorithm>
#include <array>
#include <string>

namespace ingot::python {
namespace {

namespace py = pybind11;

struct Format {
  char letter;  // of Python's struct
  py::ssize_t bytes;
  DType dtype;
};
constexpr std::array formats = {Format{'f', 4, DType::f32}, Format{'e', 2, DType::f16}, Format{'b', 1, DType::i8},
                                Format{'B', 1, DType::u8},  Format{'i', 4, DType::i32}, Format{'l', 8, DType::i64},
                                Format{'q', 8, DType::i64}};

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Failure{Error::of(ErrorCode::invalid_argument, parts...)};
}

DType dtype_of_buffer(std::string_view name, const BorrowedBuffer& buffer) {
  const std::string_view given = buffer->format == nullptr ? "B" : buffer->format;
  std::string_view letters = given;
  if (letters.starts_with('@') || letters.starts_with('=') || letters.starts_with('<')) letters.remove_prefix(1);
  for (const Format& format : formats) {
    if (letters.size() == 1 && letters[0] == format.letter && buffer->itemsize == format.bytes) return format.dtype;
  }
  refuse("expected ", name, " of float32, float16, int8, uint8, int32 or int64, found elements of the format '", given,
         "'");
}

Shape shape_of(std::string_view name, const BorrowedBuffer& buffer) {
  if (buffer->ndim > max_rank) {
    refuse("expected ", name, " of at most ", max_rank, " axes, found ", std::int64_t{buffer->ndim});
  }
  Shape shape;
  for (int axis = 0; axis < buffer->ndim; ++axis) shape.push_back(buffer->shape[axis]);
  return shape;
}

Strides strides_of(const BorrowedBuffer& buffer) {
  Strides strides;
  for (int axis = 0; axis < buffer->ndim; ++axis) strides.push_back(buffer->strides[axis]);
  return strides;
}

AnyView plain_view(std::string_view name, const BorrowedBuffer& buffer) {
  const DType dtype = dtype_of_buffer(name, buffer);
  return {static_cast<std::byte*>(buffer->buf), dtype, shape_of(name, buffer), strides_of(buffer)};
}

AnyView blocks_view(std::string_view name, const BorrowedBuffer& buffer, DType dtype) {
  if (buffer->ndim == 0 || dtype_of_buffer(name, buffer) != DType::u8) {
    refuse("expected the bytes of ", name, " as rows of uint8, found another array");
  }
  Shape shape = shape_of(name, buffer);
  Strides strides = strides_of(buffer);
  const std::int64_t bytes = shape.last();
  if (bytes % block_bytes(dtype) != 0 || (bytes > 1 && strides.last() != 1)) {
    refuse("expected packed rows of ", name, " in whole blocks of ", std::int64_t{block_bytes(dtype)}, " bytes for ",
           dtype, ", found ", bytes, " bytes that lie ", strides.last(), " apart");
  }
  shape[shape.rank() - 1] = bytes / block_bytes(dtype) * block_elements(dtype);
  strides[shape.rank() - 1] = block_bytes(dtype);
  return {static_cast<std::byte*>(buffer->buf), dtype, shape, strides};
}

// Which have no buffer of their own: to look for that first spares arrays a search among types.
bool are_blocks(py::handle object) { return PyObject_CheckBuffer(object.ptr()) == 0 && py::isinstance<Blocks>(object); }

// What lends its memory: the object, or NumPy's view of one that has DLPack alone.
py::object lender(std::string_view name, py::handle object) {
  if (are_blocks(object)) return object.cast<const Blocks&>().bytes;
  if (PyObject_CheckBuffer(object.ptr()) != 0) return py::reinterpret_borrow<py::object>(object);
  if (py::hasattr(object, "__dlpack__")) return py::module_::import("numpy").attr("from_dlpack")(object);
  refuse("expected ", name, " as an array of NumPy's, or of another library that has DLPack, found ",
         std::string_view(Py_TYPE(object.ptr())->tp_name));
}

}  // namespace

BorrowedBuffer::BorrowedBuffer(std::string_view name, py::handle object, Use use) {
  // Of those with strides: a buffer of pointers to rows is for its owner to refuse.
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) throw py::error_already_set();
  if (use == Use::write && buffer_.readonly != 0) {
    PyBuffer_Release(&buffer_);
    refuse("expected ", name, " that may be written, found a read-only array");
  }
  is_held_ = true;
}

BorrowedArray::BorrowedArray(std::string_view name, py::handle object, Use use)
    : buffer_(name, lender(name, object), use) {
  view_ =
      are_blocks(object) ? blocks_view(name, buffer_, object.cast<const Blocks&>().dtype) : plain_view(name, buffer_);
  // Before anything divides strides by the size of an element.
  const Result<void> well_formed = check_well_formed(view_);
  if (!well_formed.ok()) throw Failure{well_formed.error().within(name)};
}

py::object new_array(const py::object& empty, DType dtype, const Shape& shape) {
  constexpr auto name_in_numpy = [](DType asked) -> const char* {
    switch (asked) {
      case DType::f32: return "float32";
      case DType::f16: return "float16";
      case DType::i8: return "int8";
      case DType::u8: return "uint8";
      case DType::i32: return "int32";
      case DType::i64: return "int64";
      default: return nullptr;
    }
  };
  const char* name = name_in_numpy(dtype);
  if (name == nullptr) refuse("expected memory for an output of ", dtype, ", which NumPy has not, found none");
  py::tuple sizes(static_cast<std::size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis) sizes[static_cast<std::size_t>(axis)] = shape[axis];
  return empty(sizes, name);
}

void add_arrays(py::module_& module) {
  py::class_<Floats>(module, "Floats", py::buffer_protocol(), "Numbers that numpy.asarray() shows without a copy.")
      .def_buffer([](Floats& floats) {
        constexpr py::ssize_t size = sizeof(float);
        return py::buffer_info(floats.numbers.data(), size, py::format_descriptor<float>::format(), 2,
                               {floats.rows, floats.columns}, {size * floats.columns, size});
      });
  py::class_<Blocks>(module, "Blocks",
                     "Rows of a type that NumPy has not, as bytes: a block format such as 'q4_0', or 'bf16'.\n\n"
                     "The last axis of `bytes`, an array of uint8, is one row.")
      .def(py::init([](py::object bytes, const std::string& dtype) {
             const std::optional<DType> known = dtype_by_name(dtype);
             if (known) return Blocks{std::move(bytes), *known};
             std::string names;
             for (const DTypeInformation& row : dtype_table) {
               if (row.block_elements > 1) names.append(row.name).append(", ");
             }
             refuse("expected a type among ", names, "bf16, found '", dtype, "'");
           }),
           py::arg("bytes"), py::arg("dtype"))
      .def_property_readonly("dtype", [](const Blocks& blocks) { return name_of(blocks.dtype); })
      .def_readonly("bytes", &Blocks::bytes);
}

}  // namespace ingot::python
