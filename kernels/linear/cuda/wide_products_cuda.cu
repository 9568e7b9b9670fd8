// Products of many tokens with weights of 16 bits. A block has 128 rows of weights and 128 tokens, and eight warps with
// 64 rows and 32 tokens each.
//
// Shared memory: three tiles of both factors, 96 KiB, which a block of a graphics card has, too.
#include "kernels/linear/cuda/wide_products.h"

// Budget of multiply_wide_f16, multiply_wide_bf16: 255 registers. Sums and totals of 64 rows and 32 tokens, 128 of each
// lane; the tokens' factors a chunk deep, 32, and those of eight rows, 8, loaded ahead; where the lane's rows begin, 8.
namespace ingot::device {

INGOT_DEVICE_FUNCTION(multiply_wide_f16, WideProducts, WideBlock::threads) {
  multiply_wide<Half, WideBlock>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_wide_bf16, WideProducts, WideBlock::threads) {
  multiply_wide<BFloat16, WideBlock>(parameters);
}

}  // namespace ingot::device
