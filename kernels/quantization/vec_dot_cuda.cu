// A warp a row. Four lanes have a group of 16 elements, whose integer sum is exact; the rest is in double, an operation
// or two a group.
#include "kernels/quantization/vec_dot_cuda.h"

#include "kernels/device/blocks.h"
#include "kernels/device/dot.h"
#include "kernels/device/warp.h"

namespace ingot::device {
namespace {

template <class Block>
INGOT_ON_DEVICE double dot_row(const VecDotRows& parameters, const std::byte* row) {
  double total = 0;
  for (std::uint32_t begin = 0; begin < parameters.length; begin += warp_size * quad_codes) {
    const std::uint32_t at = begin + quad_codes * lane_index();
    const bool is_there = at < parameters.length;
    const Block& block = reinterpret_cast<const Block*>(row)[is_there ? at / Block::elements : 0];
    const std::uint32_t within = at % Block::elements;
    std::int32_t products = 0;
    if (is_there) {
      const std::uint32_t activations = load_quad<std::uint32_t>(parameters.codes + at);  // at any address
      products = dot_product_4x8(codes_at(block, within), activations, 0);
    }
    products += shuffle_xor(products, 1);
    products += shuffle_xor(products, 2);
    if (!is_there || at % 16 != 0) continue;
    const QuadScale scale = scale_at(block, within);
    double of_group = static_cast<double>(scale.scale) * products;
    if constexpr (has_minimum<Block>) {
      of_group = of_group - static_cast<double>(scale.minimum) * parameters.sums[at / 16];
    }
    total += static_cast<double>(parameters.scales[at / Block::elements]) * of_group;
  }
  return warp_sum(total);
}

}  // namespace

INGOT_DEVICE_FUNCTION(vec_dot_rows, VecDotRows, 256) {
  const std::uint32_t row = block_index() * warp_count() + warp_index();
  if (row >= parameters.rows) return;  // a whole warp: nobody waits for it
  with_block(parameters.dtype, [&]<class Block>() {
    const double sum = dot_row<Block>(parameters, parameters.weights + row * parameters.row_bytes);
    if (lane_index() == 0) parameters.y[row] = static_cast<float>(sum);
  });
}

}  // namespace ingot::device
