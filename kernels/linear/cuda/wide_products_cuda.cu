// Products of many tokens with weights of 16 bits. A block has 128 rows of weights and 128 tokens, and four warps with
// 64 of each: an instruction's factors are loaded from shared memory a quarter as often as they are multiplied.
//
// Shared memory: three tiles of both factors, 96 KiB, which two blocks of a multiprocessor have, and one of a graphics
// card's.
#include "kernels/linear/cuda/wide_products.h"

// Budget of multiply_wide_f16, multiply_wide_bf16: 255 registers. Sums of 64 rows and 64 tokens, 128 of each lane;
// factors 16 deep, 32, twice; where the lane's rows begin, 16.
namespace ingot::device {

INGOT_DEVICE_FUNCTION(multiply_wide_f16, WideProducts, WideBlock::threads) {
  multiply_wide<Half, WideBlock>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_wide_bf16, WideProducts, WideBlock::threads) {
  multiply_wide<BFloat16, WideBlock>(parameters);
}

}  // namespace ingot::device
