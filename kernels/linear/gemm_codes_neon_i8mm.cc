// Two to four rows of activations and weights in blocks of 32, by SMMLA: two rows of weights times two rows of x, eight
// codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// Codes of two rows of weights are shuffled together as they are unpacked; rows of x lie together from the start. With
// four rows of x, two by four blocks of Q4_0 (144 bytes) take 98 slots of vector pipes where SDOT takes 151.
#include "kernels/linear/coded_spans.h"
#include "kernels/linear/gemm.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/group_words.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {

constexpr SimdTarget code_target = SimdTarget::neon;

// Each builds on the one before it.
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/blocks_32_neon-inl.h"
//
#include "kernels/linear/coded_spans-inl.h"

// Two rows of x, four blocks: what belongs to a row stands in the lanes of its products.
struct alignas(64) PairedSpan32 {
  std::int8_t codes[4][4][2][8];  // [block][eight][row]
  std::int32_t starts[4][4];      // where a block's sum begins
  float scales[4][4];
  float scaled_sums[4][4];
};
static_assert(2 * sizeof(PairedSpan32) <= 2 * sizeof(CodedSpan256));

// Sums begin at the bits of 1.5 * 2^23: being below 2^22, they make floats of themselves but for one subtraction.
constexpr float float_start = 0x1.8p23f;

void pair_spans(const CodedSpan32 (&rows)[2], PairedSpan32& to) {
  for (int b = 0; b < 4; ++b) {
    for (int lane = 0; lane < 4; ++lane) {
      const CodedSpan32& row = rows[lane % 2];
      to.starts[b][lane] = std::bit_cast<std::int32_t>(float_start) + row.corrections[b];
      to.scales[b][lane] = row.scales[b];
      to.scaled_sums[b][lane] = row.scaled_sums[b];
    }
    for (int eight = 0; eight < 4; ++eight) {
      for (int row = 0; row < 2; ++row) {
        std::memcpy(to.codes[b][eight][row], rows[row].codes[eight / 2] + 16 * b + 8 * (eight % 2), 8);
      }
    }
  }
}

void encode(const Gemm& gemm, std::byte* coded) {
  const std::int64_t blocks = gemm.depth / 32;
  auto* pairs = reinterpret_cast<PairedSpan32*>(coded);
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    for (std::int64_t first = 0; first < gemm.rows; first += 2) {
      for (std::int64_t b = 0; b < blocks; b += 4, ++pairs) {
        CodedSpan32 rows[2] = {};  // a row past the last counts for nothing
        for (std::int64_t row = first; row < std::min(first + 2, gemm.rows); ++row) {
          fill_span(row_of_x(gemm, row), 32 * b, std::min<std::int64_t>(4, blocks - b), code_offset<Block>,
                    rows[row - first]);
        }
        pair_spans(rows, *pairs);
      }
    }
  });
}

// Numbers of four blocks of two rows, block by block in the lanes of their products.
HWY_INLINE void spread(float32x4_t first, float32x4_t second, float32x4_t (&blocks)[4]) {
  const float32x4_t lower = vzip1q_f32(first, second), upper = vzip2q_f32(first, second);
  blocks[0] = vzip1q_f32(lower, lower);
  blocks[1] = vzip2q_f32(lower, lower);
  blocks[2] = vzip1q_f32(upper, upper);
  blocks[3] = vzip2q_f32(upper, upper);
}

HWY_INLINE int8x16_t lower_eights(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
HWY_INLINE int8x16_t upper_eights(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

// Blocks take turns at two sums, so that the chain of additions is half as long.
template <class Block, int pairs, bool all>
HWY_INLINE void add_two_by_four(const FourBlocks<Block, all> (&weights)[2], const PairedSpan32* x, std::int64_t spans,
                                float32x4_t (&sums)[pairs][2]) {
  const FourScales first = load_scales(weights[0]), second = load_scales(weights[1]);
  float32x4_t scales[4], bases[4];
  spread(first.scales, second.scales, scales);
  if constexpr (requires(const Block& block) { block.base; }) spread(first.bases, second.bases, bases);
  unrolled<4>(INGOT_UNROLLED(b) {
    const CodeHalves one = load_codes(*weights[0][b]), other = load_codes(*weights[1][b]);
    const int8x16_t eights[4] = {lower_eights(one.first, other.first), upper_eights(one.first, other.first),
                                 lower_eights(one.second, other.second), upper_eights(one.second, other.second)};
    unrolled<pairs>(INGOT_UNROLLED(pair) {
      const PairedSpan32& in = x[pair * spans];
      int32x4_t product = vld1q_s32(in.starts[b]);
      unrolled<4>(INGOT_UNROLLED(i) { product = vmmlaq_s32(product, eights[i], vld1q_s8(in.codes[b][i][0])); });
      const float32x4_t sum = vsubq_f32(vreinterpretq_f32_s32(product), vdupq_n_f32(float_start));
      // Not the product of both scales first: it may lie below the normal range where the sum does not.
      const float32x4_t x_sum = vmulq_f32(sum, vld1q_f32(in.scales[b]));
      float32x4_t& total = sums[pair][b % 2];
      total = vfmaq_f32(total, x_sum, scales[b]);
      if constexpr (requires(const Block& block) { block.base; }) {
        total = vfmaq_f32(total, bases[b], vld1q_f32(in.scaled_sums[b]));
      }
    });
  });
}

template <class Block, int pairs>
void multiply_columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 32;
  const std::int64_t spans = (blocks + 3) / 4;
  const auto* x = reinterpret_cast<const PairedSpan32*>(coded);
  for (std::int64_t column = begin; column < end; column += 2) {
    // A row past the end repeats the last one; what it gives is not stored.
    auto row_of = [&](std::int64_t at) __attribute__((always_inline)) {
      return reinterpret_cast<const Block*>(gemm.right.data + std::min(at, end - 1) * gemm.right.width_stride);
    };
    const Block* weights[2] = {row_of(column), row_of(column + 1)};
    float32x4_t sums[pairs][2];
    unrolled<pairs>(INGOT_UNROLLED(pair) { sums[pair][0] = sums[pair][1] = vdupq_n_f32(0); });
    auto add = [&]<bool all>(std::int64_t span) __attribute__((always_inline)) {
      const std::int64_t at = 4 * span;
      const FourBlocks<Block, all> rows[2] = {{weights[0] + at, blocks - at}, {weights[1] + at, blocks - at}};
      add_two_by_four<Block, pairs, all>(rows, x + span, spans, sums);
    };
    for (std::int64_t span = 0; span < blocks / 4; ++span) add.template operator()<true>(span);
    if (blocks % 4 != 0) add.template operator()<false>(blocks / 4);
    for (int pair = 0; pair < pairs; ++pair) {
      float results[2][2];  // [row of weights][row of x]
      vst1q_f32(results[0], vaddq_f32(sums[pair][0], sums[pair][1]));
      for (std::int64_t row = 2 * pair; row < std::min<std::int64_t>(2 * pair + 2, gemm.rows); ++row) {
        for (std::int64_t at = column; at < std::min(column + 2, end); ++at) {
          gemm.out[row * gemm.out_stride + at] =
              results[at - column][row % 2] + (gemm.bias == nullptr ? 0.0f : gemm.bias[at]);
        }
      }
    }
  }
}

void columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    if constexpr (Block::elements == 32) {
      (gemm.rows <= 2 ? multiply_columns<Block, 1> : multiply_columns<Block, 2>)(gemm, coded, begin, end);
    }
  });
}

constexpr DotProduct product = {encode, columns};

}  // namespace

const DotProduct* const gemm_codes_neon_i8mm = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const DotProduct* const gemm_codes_neon_i8mm = nullptr;
}  // namespace ingot

#endif
