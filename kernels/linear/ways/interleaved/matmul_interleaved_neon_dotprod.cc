// The same by byte dot products (SDOT): four bytes of each of four rows of weights times four of x, which are named by
// their lane, so that a register of x serves four products. Eight blocks of Q4_0 (144 bytes) take 40 vector
// instructions with one row of x: 10.8 bytes a cycle at three a cycle, which is what the memory gives.
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"

#include <arm_neon.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")

namespace ingot {
namespace {

#include "kernels/linear/ways/interleaved/matmul_interleaved-inl.h"
//
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/every_vector_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q4_0_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q5_0_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q6_k_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/one_row_braids_neon-inl.h"

template <class Block>
constexpr int code_offset = std::is_same_v<Block, BlockQ4_0> ? 8 : 0;

template <class Block, int rows>
struct Columns {
  static void run(const Matmul::Arguments& a, const CodedBlock* coded, std::int64_t first_row) {
    const std::int64_t blocks = a.x.size(1) / 32;
    const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
    for (std::int64_t braid = 0; braid < a.y.size(1) / interleaved_rows; ++braid) {
      float32x4_t totals[rows][2];
      for (auto& of_row : totals) of_row[0] = of_row[1] = vdupq_n_f32(0);
      for (std::int64_t b = 0; b < blocks; ++b, ++weights) {
        add_blocks(*weights, coded + first_row * blocks + b, blocks, totals);
      }
      for (int row = 0; row < rows; ++row) store_braid(a, first_row + row, braid, totals[row]);
    }
  }

 private:
  static HWY_INLINE void add_blocks(const InterleavedBlocks<Block>& weights, const CodedBlock* x, std::int64_t blocks,
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
        const float32x4_t sum = vmulq_f32(vcvtq_f32_s32(sums[row][half]), scales);
        totals[row][half] = vfmaq_n_f32(totals[row][half], sum, x[row * blocks].scale);
      });
    });
  }
};

// --- one row of x ---

template <>
struct OneRow<BlockQ4_0> {
  using LaneBlock = Q4_0LaneBlock;
};
template <>
struct OneRow<BlockQ5_0> {
  using LaneBlock = Q5_0LaneBlock;
};
template <>
struct OneRow<BlockQ6_K> {
  using LaneBlock = Q6_KLaneBlock;
};

bool has_one_row_code(DType dtype) { return dtype == DType::q4_0 || dtype == DType::q5_0 || dtype == DType::q6_k; }
template <class Function>
void with_one_row_type(DType dtype, Function function) {
  if (dtype == DType::q6_k) return function.template operator()<BlockQ6_K>();
  if (dtype == DType::q5_0) return function.template operator()<BlockQ5_0>();
  function.template operator()<BlockQ4_0>();
}

// --- all ---

bool has_one_row(const Matmul::Arguments& a) {
  return a.x.size(0) == 1 && a.x.size(1) > 0 && has_one_row_code(a.weights.dtype());
}

bool accepts(const Matmul::Arguments& a) { return has_one_row(a) || keeps_bytes(a); }

std::size_t prepared_bytes(const Matmul::Arguments& a) {
  std::size_t bytes = coded_bytes(a);
  if (has_one_row(a)) {
    with_one_row_type(a.weights.dtype(), [&]<class Block>() {
      bytes = static_cast<std::size_t>(a.x.size(1) / Block::elements) * sizeof(typename OneRow<Block>::LaneBlock);
    });
  }
  return bytes;
}

void prepare(const Matmul::Arguments& a, Workers&, std::byte* prepared) {
  if (!has_one_row(a)) {
    return code_rows(a, encode_activation_block.neon, reinterpret_cast<CodedBlock*>(prepared));
  }
  with_one_row_type(a.weights.dtype(), [&]<class Block>() { prepare_one_row<Block>(a, prepared); });
}

void columns(const Matmul::Arguments& a, const std::byte* prepared) {
  if (!has_one_row(a)) return multiply_coded<Columns>(a, prepared);
  with_one_row_type(a.weights.dtype(), [&]<class Block>() { multiply_one_row<Block>(a, prepared); });
}

constexpr BraidProduct product = {accepts, prepared_bytes, prepare, columns, 512 << 10};

}  // namespace

const BraidProduct* const interleaved_neon_dotprod = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
#undef INGOT_EVERY_VECTOR
HWY_POP_ATTRIBUTES
