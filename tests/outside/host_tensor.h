// HostTensor: a tensor of a test case as plain numbers, with the plain loops that turn one library's layout into
// another's. Nothing here is fast, and nothing here is Ingot's: it is the other side of the comparison.
#pragma once

#include <string>

#include "tensor/dtype.h"
#include "tests/outside/npy.h"

namespace ingot::outside {

using Sizes = std::vector<std::int64_t>;

struct HostTensor {
  std::string dtype;  // the case's name for it: "f32", "bf16", "u4", "f8e5m2", ...
  Sizes shape;
  std::vector<double> values;  // numbers; for types that no plain C++ type stands for (fp8, ...), their bits

  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()); }
  std::int64_t size(int axis) const { return shape.at(static_cast<std::size_t>(axis)); }
  bool is_float() const { return dtype == "f32" || dtype == "f16" || dtype == "bf16" || dtype == "f64"; }
};

// Types of 4 and 2 bits lie packed in bytes, the first element in the lowest bits; they are unpacked to `shape`.
Result<HostTensor> to_host_tensor(const NpyArray& array, const std::string& dtype, const Sizes& shape);

// Bits an element of a packed type has, and whether it is a signed integer; 0 bits for types that fill bytes.
struct PackedType {
  int bits = 0;
  bool is_signed = false;
};
PackedType packed_type(const std::string& dtype);
// The number that the lowest bits of an integer stand for.
double low_bits(std::int64_t number, PackedType type);

std::int64_t count_of(const Sizes& shape);
// -1 is the last axis.
int resolved_axis(std::int64_t axis, int rank);
// Result axis i is the argument's axis axes[i].
HostTensor permuted(const HostTensor& tensor, const std::vector<int>& axes);
// The axis moved to the end, the others in order; and back.
HostTensor axis_to_end(const HostTensor& tensor, int axis);
HostTensor axis_from_end(const HostTensor& tensor, int axis);
HostTensor reshaped(HostTensor tensor, Sizes shape);
// Axes of size 1 and missing leading axes repeat. Fails where shapes do not fit.
Result<HostTensor> broadcast(const HostTensor& tensor, const Sizes& shape);
HostTensor concatenated(const HostTensor& first, const HostTensor& second, int axis);

}  // namespace ingot::outside
