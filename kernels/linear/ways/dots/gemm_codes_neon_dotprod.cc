// Few rows of activations and weights in a block format, with byte dot products (SDOT): signed bytes, four of them into
// a 32-bit lane. Codes stay in registers from their bytes to their sums, which are the exact integers of the contract.
//
// Neoverse V1 reads 10.8 bytes a cycle from memory and starts about three vector instructions of this kind a cycle: at
// one row of x, four blocks of Q4_0 (72 bytes) take 24 instructions, a block of Q4_K (144) 50, one of Q6_K (210) 73, so
// that instructions bound all of them, and only Q8_0 the memory.
#include "kernels/linear/ways/dots/coded_spans.h"
#include "kernels/linear/ways/floats/gemm.h"

#include <arm_neon.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/instructions/group_words.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {

constexpr SimdTarget code_target = SimdTarget::neon;

#include "kernels/linear/instructions/unrolled-inl.h"

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

// With one row of x, rows of weights from far apart are multiplied side by side: they share what is loaded of x, and
// the memory answers several long streams faster than one (Neoverse V1, two threads: 44 GB/s from one stream each, 53
// from two or four). More rows of x leave no registers for that.
template <int rows, int most>
constexpr std::size_t weight_streams = rows == 1 ? most : 1;
constexpr std::int64_t code_chunk_bytes = 512 << 10;

// Calls task(columns, their rows of weights) until each of the columns from begin to end had its turn, the last of a
// stream twice where the streams are not equally long.
template <class Block, std::size_t streams, class Task>
HWY_INLINE void for_streams(const Gemm& gemm, std::int64_t begin, std::int64_t end, Task&& task) {
  const std::int64_t length =
      (end - begin + static_cast<std::int64_t>(streams) - 1) / static_cast<std::int64_t>(streams);
  for (std::int64_t column = 0; column < length; ++column) {
    std::array<std::int64_t, streams> columns;
    std::array<const Block*, streams> weights;
    for (std::size_t i = 0; i < streams; ++i) {
      columns[i] = std::min(begin + static_cast<std::int64_t>(i) * length + column, end - 1);
      weights[i] = reinterpret_cast<const Block*>(gemm.right.data + columns[i] * gemm.right.width_stride);
    }
    task.template operator()<streams>(columns, weights);
  }
}

#include "kernels/linear/instructions/every_vector_neon-inl.h"

// Each builds on the one before it.
#include "kernels/linear/instructions/blocks_32_neon-inl.h"
//
#include "kernels/linear/ways/dots/q4_0_streams_neon-inl.h"
//
#include "kernels/linear/ways/dots/codes_32_neon-inl.h"
//
#include "kernels/linear/instructions/blocks_256_neon-inl.h"
//
#include "kernels/linear/ways/dots/q4_k_streams_neon-inl.h"
//
#include "kernels/linear/ways/dots/q6_k_streams_neon-inl.h"
//
#include "kernels/linear/ways/dots/codes_256_neon-inl.h"

#include "kernels/linear/ways/dots/coded_spans-inl.h"
//
#include "kernels/linear/ways/dots/gemm_codes-inl.h"

}  // namespace

const DotProduct* const gemm_codes_neon_dotprod = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
#undef INGOT_EVERY_VECTOR
HWY_POP_ATTRIBUTES
