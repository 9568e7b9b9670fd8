#include "kernels/contract/magnitude.h"

#include <algorithm>
#include <cmath>

#include "tensor/block_codec.h"

namespace ingot {

double largest_magnitude(const ConstAnyView& view) {
  if (view.data() == nullptr || view.empty()) return 0;
  float largest = 0;
  float values[256];
  const int block = block_elements(view.dtype());
  for_each_block(view, [&](std::int64_t offset) {
    decode_row(view.dtype(), view.data() + offset, values, block);
    for (int i = 0; i < block; ++i) {
      if (std::isfinite(values[i])) largest = std::max(largest, std::fabs(values[i]));
    }
  });
  return largest;
}

}  // namespace ingot
