#include <algorithm>
#include <cmath>

#include "kernels/quantization/dynamic_quantize.h"
#include "tensor/rows.h"

namespace ingot {

void dynamic_quantize_reference(const DynamicQuantize::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const Rows y(arguments.y);
  DynamicRange range;
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) {
      if (!std::isfinite(x[row][i])) continue;
      range.low = std::min(range.low, x[row][i]);
      range.high = std::max(range.high, x[row][i]);
    }
  }
  const DynamicScale made = dynamic_scale(range);
  *arguments.scale.data() = made.scale;
  *arguments.zero_point.data() = made.zero_point;
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) {
      y[row][i] = affine_code<std::uint8_t>(x[row][i], made.scale, made.zero_point);
    }
  }
}

}  // namespace ingot
