#include "kernels/quantization/dequantize_cuda.h"

#include "kernels/device/blocks.h"
#include "kernels/device/groups.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(dequantize_rows, DequantizeRows, 256) {
  with_block(parameters.dtype, [&]<class Block>() {
    parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
      float values[quad_codes];
      decode_quad<Block>(parameters.blocks.row(row), quad_codes * group, values);
      store_group(values, parameters.y.row(row), group_floats * group, parameters.y.length, parameters.is_aligned);
    });
  });
}

}  // namespace ingot::device
