#include "kernels/quantization/quantize_cuda.h"

#include "kernels/device/block_encode.h"

namespace ingot::device {
namespace {

template <class Block>
INGOT_ON_DEVICE void quantize_blocks(const QuantizeRows& parameters) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t block) {
    float values[encoded_elements];
    load_block(values, parameters.x.row(row), block, parameters.x.length, parameters.is_aligned);
    encode_block(values, reinterpret_cast<Block*>(parameters.blocks.row(row))[block]);
  });
}

}  // namespace

INGOT_DEVICE_FUNCTION(quantize_rows, QuantizeRows, 256) {
  switch (parameters.dtype) {
    case DType::q8_0: return quantize_blocks<BlockQ8_0>(parameters);
    case DType::q4_0: return quantize_blocks<BlockQ4_0>(parameters);
    case DType::q4_1: return quantize_blocks<BlockQ4_1>(parameters);
    case DType::q5_0: return quantize_blocks<BlockQ5_0>(parameters);
    case DType::q5_1: return quantize_blocks<BlockQ5_1>(parameters);
    default: stop();
  }
}

}  // namespace ingot::device
