// Scalar truth: integers, so no rounding until the last step.
#include "kernels/linear/int8/int8_matmul.h"

namespace ingot {
namespace {

std::int32_t int8_element(const ConstAnyView& view, std::int64_t row, std::int64_t column) {
  const std::byte* address = view.row(row) + column;
  if (view.dtype() == DType::u8) return *reinterpret_cast<const std::uint8_t*>(address);
  return *reinterpret_cast<const std::int8_t*>(address);
}

}  // namespace

void int8_matmul_reference(const Int8Matmul::Arguments& a, Context&) {
  for (std::int64_t m = 0; m < a.x.size(0); ++m) {
    for (std::int64_t n = 0; n < a.weights.size(0); ++n) {
      std::int32_t accumulator = 0;
      for (std::int64_t k = 0; k < a.x.size(1); ++k) {
        accumulator += (int8_element(a.x, m, k) - per_row(a.x_zero, m)) *
                       (int8_element(a.weights, n, k) - per_row(a.weight_zero, n));
      }
      finish_int8(a, m, n, accumulator);
    }
  }
}

}  // namespace ingot
