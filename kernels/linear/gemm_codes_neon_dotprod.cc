// Few rows of activations and weights in a block format, with byte dot products (SDOT): signed bytes, four of them into
// a 32-bit lane. Codes stay in registers from their bytes to their sums, which are the exact integers of the contract.
//
// Rows of weights are read one after the other, a single stream that hardware prefetching follows. Neoverse V1 issues
// four vector instructions a cycle and reads 10.8 bytes a cycle from memory: at one row of x, four blocks of Q4_0 (72
// bytes) take 24 instructions, a block of Q4_K (144) 60, one of Q6_K (210) 95, so all of them keep up with the memory.
#include "kernels/linear/coded_spans.h"
#include "kernels/linear/gemm.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/group_words.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {

constexpr SimdTarget code_target = SimdTarget::neon;

#include "kernels/linear/unrolled-inl.h"

// An accumulator to start with. Compilers copy one zero from register to register, which costs an issue slot of the
// vector pipes each time; writing a zero anew costs none. Naming the codes that it waits for makes each one different.
HWY_INLINE int32x4_t zero_for(int8x16_t codes) {
  int32x4_t zero;
  __asm__("movi %0.2d, #0" : "=w"(zero) : "w"(codes));
  return zero;
}

template <int rows>
HWY_INLINE void store_column(const Gemm& gemm, std::int64_t column, const float32x4_t (&sums)[rows]) {
  const float bias = gemm.bias == nullptr ? 0.0f : gemm.bias[column];
  unrolled<rows>(INGOT_UNROLLED(row) { gemm.out[row * gemm.out_stride + column] = vaddvq_f32(sums[row]) + bias; });
}

// Each builds on the one before it.
#include "kernels/linear/blocks_32_neon-inl.h"
//
#include "kernels/linear/codes_32_neon-inl.h"
//
#include "kernels/linear/blocks_256_neon-inl.h"
//
#include "kernels/linear/codes_256_neon-inl.h"

#include "kernels/linear/coded_spans-inl.h"
//
#include "kernels/linear/gemm_codes-inl.h"

}  // namespace

const DotProduct* const gemm_codes_neon_dotprod = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const DotProduct* const gemm_codes_neon_dotprod = nullptr;
}  // namespace ingot

#endif
