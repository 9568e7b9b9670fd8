// The same by byte dot products (SDOT): four bytes of each of four rows of weights times four of x, which are named by
// their lane, so that a register of x serves four products. A group of Q4_0 blocks (144 bytes) takes 40 vector
// instructions with one row of x: 10.8 bytes a cycle at three a cycle, which is what the memory gives.
//
// There is no row for SMMLA. It wants eight codes of a row together, so that every register of weights needs a shuffle
// first: 56 instructions instead of 64 with four rows of x, 36 instead of 32 with two. Above four, panels use it.
#include "kernels/linear/matmul_interleaved.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/interleaved.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {

#include "kernels/linear/matmul_interleaved-inl.h"
//
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/q4_0_groups_neon-inl.h"

HWY_INLINE void store_group(const Matmul::Arguments& a, std::int64_t row, std::int64_t group,
                            const float32x4_t (&totals)[2]) {
  const float* bias = a.bias.data() == nullptr ? nullptr : a.bias.data() + group * interleaved_rows;
  for (int half = 0; half < 2; ++half) {
    float32x4_t total = totals[half];
    if (bias != nullptr) total = vaddq_f32(total, vld1q_f32(bias + 4 * half));
    vst1q_f32(&a.y(row, group * interleaved_rows) + 4 * half, total);
  }
}

template <class Block>
constexpr int code_offset = std::is_same_v<Block, BlockQ4_0> ? 8 : 0;

template <class Block, int rows>
struct Columns {
  static void run(const Matmul::Arguments& a, const CodedBlock* coded, std::int64_t first_row, std::int64_t begin,
                  std::int64_t end) {
    const std::int64_t blocks = a.x.size(1) / 32;
    const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data()) + begin * blocks;
    for (std::int64_t group = begin; group < end; ++group) {
      float32x4_t totals[rows][2];
      for (auto& of_row : totals) of_row[0] = of_row[1] = vdupq_n_f32(0);
      for (std::int64_t b = 0; b < blocks; ++b, ++weights) {
        add_group(*weights, coded + first_row * blocks + b, blocks, totals);
      }
      for (int row = 0; row < rows; ++row) store_group(a, first_row + row, group, totals[row]);
    }
  }

 private:
  static HWY_INLINE void add_group(const InterleavedBlocks<Block>& weights, const CodedBlock* x, std::int64_t blocks,
                                   float32x4_t (&totals)[rows][2]) {
    constexpr int quads = InterleavedBlocks<Block>::quads;
    int8x16_t of_x[rows][2];
    int32x4_t sums[rows][2];
    unrolled<rows>(INGOT_UNROLLED(row) {
      const CodedBlock& in = x[row * blocks];
      of_x[row][0] = vld1q_s8(in.codes);
      of_x[row][1] = vld1q_s8(in.codes + 16);
      sums[row][0] = sums[row][1] = vdupq_n_s32(-code_offset<Block> * in.sum);
    });
    unrolled<2 * quads>(INGOT_UNROLLED(i) {  // four rows of weights at a time
      constexpr int quad = i / 2, half = i % 2;
      const uint8x16_t bytes = vld1q_u8(weights.codes[quad][4 * half]);
      if constexpr (std::is_same_v<Block, BlockQ4_0>) {  // a byte holds elements j and j + 16
        const int8x16_t low = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
        const int8x16_t high = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
        unrolled<rows>(INGOT_UNROLLED(row) {
          sums[row][half] = vdotq_laneq_s32(sums[row][half], low, of_x[row][0], quad);
          sums[row][half] = vdotq_laneq_s32(sums[row][half], high, of_x[row][1], quad);
        });
      } else {
        unrolled<rows>(INGOT_UNROLLED(row) {
          sums[row][half] = vdotq_laneq_s32(sums[row][half], vreinterpretq_s8_u8(bytes), of_x[row][quad / 4], quad % 4);
        });
      }
    });
    unrolled<2>(INGOT_UNROLLED(half) {
      const auto* halves = reinterpret_cast<const std::uint8_t*>(weights.scales + 4 * half);
      const float32x4_t scales = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(halves)));
      unrolled<rows>(INGOT_UNROLLED(row) {
        // Not the product of both scales first: it may lie below the normal range where the sum does not.
        const float32x4_t sum = vmulq_n_f32(vcvtq_f32_s32(sums[row][half]), x[row * blocks].scale);
        totals[row][half] = vfmaq_f32(totals[row][half], sum, scales);
      });
    });
  }
};

LaneBlock* code_for_lanes(const Matmul::Arguments& a, Context& context, EncodeFunction encode) {
  static_assert(sizeof(LaneBlock) <= sizeof(CodedBlock));  // so the scratch has room
  auto* coded = reinterpret_cast<LaneBlock*>(context.scratch.data());
  for (std::int64_t b = 0; b < a.x.size(1) / 32; ++b) {
    LaneBlock& block = coded[b];
    std::int32_t sums[2];
    const float scale = encode(&a.x(0, 32 * b), 32, block.codes, sums);
    const int32x4_t low = vreinterpretq_s32_s8(vld1q_s8(block.codes));
    const int32x4_t high = vreinterpretq_s32_s8(vld1q_s8(block.codes + 16));
    vst1q_s8(block.codes, vreinterpretq_s8_s32(vzip1q_s32(low, high)));
    vst1q_s8(block.codes + 16, vreinterpretq_s8_s32(vzip2q_s32(low, high)));
    vst1q_s32(block.starts, vdupq_n_s32(float_of_zero - code_offset<BlockQ4_0> * (sums[0] + sums[1])));
    vst1q_f32(block.scales, vdupq_n_f32(scale));
  }
  return coded;
}

// One row of x and Q4_0 weights: groups from far apart side by side, because the memory answers several long streams
// faster than one.
void multiply_in_lanes(const Matmul::Arguments& a, Context& context, const LaneBlock* x) {
  constexpr DotProduct long_streams = {nullptr, nullptr, 512 << 10};
  Gemm shape;
  shape.columns = a.y.size(1);
  shape.depth = a.x.size(1);
  shape.right.dtype = DType::q4_0;
  const std::int64_t chunk = dot_chunk_columns(long_streams, shape) / interleaved_rows;
  const std::int64_t blocks = a.x.size(1) / 32;
  const auto* weights = reinterpret_cast<const InterleavedBlocks<BlockQ4_0>*>(a.weights.data());
  context.workers.for_chunks(a.y.size(1) / interleaved_rows, chunk, [&](std::int64_t begin, std::int64_t end, int) {
    const std::int64_t length = (end - begin + 1) / 2;
    for (std::int64_t first = begin; first < begin + length; ++first) {
      const std::int64_t second = std::min(first + length, end - 1);  // the last one twice where they are odd
      float32x4_t totals[2][2];
      multiply_two_groups(weights + first * blocks, weights + second * blocks, blocks, x, totals);
      store_group(a, 0, first, totals[0]);
      store_group(a, 0, second, totals[1]);
    }
  });
}

void multiply(const Matmul::Arguments& a, Context& context) {
  const EncodeFunction encode = encode_activation_block.neon;
  if (a.weights.dtype() == DType::q4_0 && a.x.size(0) == 1 && a.x.size(1) > 0) {
    return multiply_in_lanes(a, context, code_for_lanes(a, context, encode));
  }
  const CodedBlock* x = code_rows(a, context, [&](const float* from, std::int8_t* codes, std::int32_t* sums) {
    return encode(from, 32, codes, sums);
  });
  multiply_in_chunks<Columns>(a, context, x);
}

}  // namespace

const SimdEntries<Matmul>::Function matmul_interleaved_neon_dotprod = multiply;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const SimdEntries<Matmul>::Function matmul_interleaved_neon_dotprod = nullptr;
}  // namespace ingot

#endif
