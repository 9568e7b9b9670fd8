#include "tests/outside/host_tensor.h"

#include <cstring>

namespace ingot::outside {
namespace {

template <class Element>
void append_numbers(const NpyArray& array, std::vector<double>& values) {
  for (std::size_t at = 0; at < array.bytes.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, array.bytes.data() + at, sizeof(element));
    if constexpr (std::is_arithmetic_v<Element>) {
      values.push_back(static_cast<double>(element));
    } else {
      values.push_back(static_cast<double>(static_cast<float>(element)));
    }
  }
}

Sizes strides_of(const Sizes& shape) {
  Sizes strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

// Fills a tensor of `shape` with the argument's elements at the given stride for each of its axes.
HostTensor strided_copy(const HostTensor& tensor, const Sizes& shape, const Sizes& strides) {
  HostTensor result{tensor.dtype, shape, {}};
  const std::int64_t count = count_of(shape);
  result.values.reserve(static_cast<std::size_t>(count));
  const Sizes own = strides_of(shape);
  for (std::int64_t index = 0; index < count; ++index) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) from += index / own[axis] % shape[axis] * strides[axis];
    result.values.push_back(tensor.values[static_cast<std::size_t>(from)]);
  }
  return result;
}

}  // namespace

PackedType packed_type(const std::string& dtype) {
  if (dtype == "i4") return {4, true};
  if (dtype == "u4" || dtype == "f4e2m1") return {4, false};
  if (dtype == "i2b") return {2, true};
  if (dtype == "u2b") return {2, false};
  return {};
}

double low_bits(std::int64_t number, PackedType type) {
  const std::int64_t values = std::int64_t{1} << type.bits;
  const std::int64_t bits = number & (values - 1);
  return static_cast<double>(type.is_signed && bits >= values / 2 ? bits - values : bits);
}

Result<HostTensor> to_host_tensor(const NpyArray& array, const std::string& dtype, const Sizes& shape) {
  HostTensor tensor{dtype, shape, {}};
  const std::string& type = array.type;
  if (const PackedType packed = packed_type(dtype); packed.bits > 0 && type == "u1") {
    const std::int64_t per_byte = 8 / packed.bits;
    if (array.count() != (count_of(shape) + per_byte - 1) / per_byte) {
      return Error::of(ErrorCode::corrupt, "expected packed ", dtype, " to fill its shape, found another size");
    }
    for (std::int64_t index = 0; index < count_of(shape); ++index) {
      const auto byte = static_cast<int>(array.bytes[static_cast<std::size_t>(index / per_byte)]);
      tensor.values.push_back(low_bits(byte >> (index % per_byte * packed.bits), packed));
    }
    return tensor;
  }
  if (array.shape != shape) return Error::of(ErrorCode::corrupt, "expected the shape case.json names, found another");
  if (dtype == "bf16" && type == "u2") {
    append_numbers<BFloat16>(array, tensor.values);
  } else if (type == "f2") {
    append_numbers<Half>(array, tensor.values);
  } else if (type == "f4") {
    append_numbers<float>(array, tensor.values);
  } else if (type == "f8") {
    append_numbers<double>(array, tensor.values);
  } else if (type == "i1") {
    append_numbers<std::int8_t>(array, tensor.values);
  } else if (type == "u1" || type == "b1") {
    append_numbers<std::uint8_t>(array, tensor.values);
  } else if (type == "i2") {
    append_numbers<std::int16_t>(array, tensor.values);
  } else if (type == "u2") {
    append_numbers<std::uint16_t>(array, tensor.values);
  } else if (type == "i4") {
    append_numbers<std::int32_t>(array, tensor.values);
  } else if (type == "u4") {
    append_numbers<std::uint32_t>(array, tensor.values);
  } else if (type == "i8") {
    append_numbers<std::int64_t>(array, tensor.values);
  } else if (type == "u8") {
    append_numbers<std::uint64_t>(array, tensor.values);
  } else {
    return Error::of(ErrorCode::unsupported, "expected numbers, found NumPy type ", type);
  }
  return tensor;
}

std::int64_t count_of(const Sizes& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

int resolved_axis(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

HostTensor permuted(const HostTensor& tensor, const std::vector<int>& axes) {
  const Sizes own = strides_of(tensor.shape);
  Sizes shape;
  Sizes strides;
  for (int axis : axes) {
    shape.push_back(tensor.size(axis));
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return strided_copy(tensor, shape, strides);
}

HostTensor axis_to_end(const HostTensor& tensor, int axis) {
  std::vector<int> axes;
  for (int other = 0; other < tensor.rank(); ++other) {
    if (other != axis) axes.push_back(other);
  }
  axes.push_back(axis);
  return permuted(tensor, axes);
}

HostTensor axis_from_end(const HostTensor& tensor, int axis) {
  std::vector<int> axes;
  for (int other = 0; other + 1 < tensor.rank(); ++other) axes.push_back(other);
  axes.insert(axes.begin() + axis, tensor.rank() - 1);
  return permuted(tensor, axes);
}

HostTensor reshaped(HostTensor tensor, Sizes shape) {
  tensor.shape = std::move(shape);
  return tensor;
}

Result<HostTensor> broadcast(const HostTensor& tensor, const Sizes& shape) {
  const Sizes own = strides_of(tensor.shape);
  Sizes strides(shape.size(), 0);
  const std::size_t missing = shape.size() - tensor.shape.size();
  bool fits = shape.size() >= tensor.shape.size();
  for (std::size_t axis = missing; fits && axis < shape.size(); ++axis) {
    const std::int64_t size = tensor.shape[axis - missing];
    fits = size == 1 || size == shape[axis];
    strides[axis] = size == 1 ? 0 : own[axis - missing];
  }
  if (!fits) return Error::of(ErrorCode::invalid_argument, "expected a shape that repeats to the other, found another");
  return strided_copy(tensor, shape, strides);
}

HostTensor concatenated(const HostTensor& first, const HostTensor& second, int axis) {
  HostTensor result{first.dtype, first.shape, {}};
  result.shape[static_cast<std::size_t>(axis)] += second.size(axis);
  auto inner = [&](const HostTensor& tensor) {
    std::int64_t count = 1;
    for (int other = axis; other < tensor.rank(); ++other) count *= tensor.size(other);
    return count;
  };
  std::int64_t outer = 1;
  for (int other = 0; other < axis; ++other) outer *= first.size(other);
  for (std::int64_t index = 0; index < outer; ++index) {
    for (const HostTensor* tensor : {&first, &second}) {
      const auto begin = tensor->values.begin() + index * inner(*tensor);
      result.values.insert(result.values.end(), begin, begin + inner(*tensor));
    }
  }
  return result;
}

}  // namespace ingot::outside
