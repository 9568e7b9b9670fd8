// Two to 24 rows of activations and weights in blocks of 32, by SMMLA: two rows of weights times two rows of x,
// eight codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// Codes of two rows of weights come together as they are loaded; rows of x lie together from the start. Four rows of
// weights and eight of x take 48 instructions a block, and about 16 to unpack the weights.
#include "kernels/linear/ways/dots/coded_spans.h"
#include "kernels/linear/ways/floats/gemm.h"

#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/instructions/group_words.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/blocks_32_neon-inl.h"

// Two rows of x, one block: what belongs to a row stands in the lanes of its products.
struct PairedBlock32 {
  std::int8_t codes[4][2][8];  // [eight][row]
  std::int32_t starts[4];      // where sums begin
  float scales[4];
  float scaled_sums[4];
};
static_assert(8 * sizeof(PairedBlock32) <= 2 * sizeof(CodedSpan256));

// Sums begin at the bits of 1.5 * 2^23: being below 2^22, they make floats of themselves. Multiplied with their scale
// as they are, start and all, they leave one addition to take the start away: exact, since scales have 11 bits.
constexpr float float_start = 0x1.8p23f;

template <class Block>
void encode_pair(const Gemm& gemm, std::int64_t first, PairedBlock32* to) {
  const EncodeFunction encode_block = encode_activation_block.neon;
  const BlockReader rows[2] = {{gemm.coded, gemm.left.data, gemm.left.width_stride, first, encode_block},
                               {gemm.coded, gemm.left.data, gemm.left.width_stride, first + 1, encode_block}};
  for (std::int64_t b = 0; b < gemm.depth / 32; ++b, ++to) {
    *to = {};  // a row past the last counts for nothing
    for (std::int64_t row = 0; row < 2; ++row) {
      std::int32_t start = std::bit_cast<std::int32_t>(float_start);
      if (first + row < gemm.rows) {
        std::int8_t codes[32];
        std::int32_t sums[2];
        const float scale = rows[row].read(32 * b, 32, codes, sums);
        const std::int32_t sum = sums[0] + sums[1];
        for (int eight = 0; eight < 4; ++eight) std::memcpy(to->codes[eight][row], codes + 8 * eight, 8);
        start -= code_offset<Block> * sum;
        to->scales[row] = to->scales[row + 2] = scale;
        to->scaled_sums[row] = to->scaled_sums[row + 2] = scale * static_cast<float>(sum);
      }
      to->starts[row] = to->starts[row + 2] = start;
    }
  }
}

void encode(const Gemm& gemm, std::byte* coded) {
  auto* pairs = reinterpret_cast<PairedBlock32*>(coded);
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    for (std::int64_t row = 0; row < gemm.rows; row += 2) {
      encode_pair<Block>(gemm, row, pairs + row / 2 * (gemm.depth / 32));
    }
  });
}

constexpr int twos = 2;  // times two rows of weights at once

// Four times eight codes of two rows of weights.
using Eights = int8x16_t[4];

HWY_INLINE int8x16_t lower_eights(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
HWY_INLINE int8x16_t upper_eights(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

template <class Block>
HWY_INLINE void load_eights(const Block& one, const Block& other, Eights& eights) {
  const Codes32 a = load_codes(one), b = load_codes(other);
  eights[0] = lower_eights(a.first, b.first);
  eights[1] = upper_eights(a.first, b.first);
  eights[2] = lower_eights(a.second, b.second);
  eights[3] = upper_eights(a.second, b.second);
}
HWY_INLINE void load_eights(const BlockQ8_0& one, const BlockQ8_0& other, Eights& eights) {
  unrolled<4>(INGOT_UNROLLED(i) { eights[i] = vcombine_s8(vld1_s8(one.codes + 8 * i), vld1_s8(other.codes + 8 * i)); });
}
// Nibbles of two rows come together before they are taken apart: half as many shuffles.
template <class Block>
  requires(sizeof(Block::low) == 16 && !requires(const Block& block) { block.high; })
HWY_INLINE void load_eights(const Block& one, const Block& other, Eights& eights) {
  const int8x16_t a = vreinterpretq_s8_u8(vld1q_u8(one.low)), b = vreinterpretq_s8_u8(vld1q_u8(other.low));
  const int8x16_t packed[2] = {lower_eights(a, b), upper_eights(a, b)};
  unrolled<2>(INGOT_UNROLLED(i) {
    const uint8x16_t nibbles = vreinterpretq_u8_s8(packed[i]);
    eights[i] = codes_of<Block>(vandq_u8(nibbles, vdupq_n_u8(15)));
    eights[2 + i] = codes_of<Block>(vshrq_n_u8(nibbles, 4));
  });
}

// Numbers of two rows in the lanes of their products.
HWY_INLINE float32x4_t spread_halves(const StoredHalf& one, const StoredHalf& other) {
  const std::uint64_t both = one.bits() | std::uint64_t{other.bits()} << 32;
  return floats_of(vcreate_u16(both * 0x10001));
}
template <class Block>
HWY_INLINE float32x4_t spread_scales(const Block& one, const Block& other) {
  if constexpr (std::is_same_v<Block, BlockMXFP4>) {
    return vcombine_f32(vdup_n_f32(mxfp4_scale(one.exponent)), vdup_n_f32(mxfp4_scale(other.exponent)));
  } else {
    return spread_halves(one.scale, other.scale);
  }
}

// A compiler would load this once and copy it, and a copy takes a slot of the vector pipes.
template <int index>
HWY_INLINE int32x4_t load_start(const std::int32_t (&starts)[4]) {
  int32x4_t loaded;
  __asm__("ldr %q0, %1" : "=w"(loaded) : "m"(starts), "n"(index));
  return loaded;
}

// One block: `twos` times two rows of weights with all pairs of rows of x.
template <class Block, int pairs>
HWY_INLINE void add_block(const Block* const (&weights)[2 * twos], std::int64_t b, const PairedBlock32* x,
                          std::int64_t blocks, float32x4_t (&sums)[twos][pairs]) {
  constexpr bool is_wide = std::is_same_v<Block, BlockMXFP4>;  // times the start its scales may leave the range
  Eights eights[twos];
  float32x4_t scales[twos], less_starts[twos], bases[twos];
  unrolled<twos>(INGOT_UNROLLED(two) {
    const Block &one = weights[2 * two][b], &other = weights[2 * two + 1][b];
    load_eights(one, other, eights[two]);
    scales[two] = spread_scales(one, other);
    less_starts[two] = vmulq_n_f32(scales[two], -float_start);
    if constexpr (requires { one.base; }) bases[two] = spread_halves(one.base, other.base);
  });
  unrolled<pairs>(INGOT_UNROLLED(pair) {
    const PairedBlock32& in = x[pair * blocks];
    int32x4_t products[twos];
    unrolled<twos>(INGOT_UNROLLED(two) { products[two] = load_start<two>(in.starts); });
    unrolled<4>(INGOT_UNROLLED(i) {
      const int8x16_t of_x = vld1q_s8(in.codes[i][0]);
      unrolled<twos>(INGOT_UNROLLED(two) { products[two] = vmmlaq_s32(products[two], eights[two][i], of_x); });
    });
    const float32x4_t of_x = vld1q_f32(in.scales);
    unrolled<twos>(INGOT_UNROLLED(two) {
      const float32x4_t sum = vreinterpretq_f32_s32(products[two]);
      // Not the product of both scales first: it may lie below the normal range where the sum does not.
      const float32x4_t scaled = is_wide ? vmulq_f32(vsubq_f32(sum, vdupq_n_f32(float_start)), scales[two])
                                         : vfmaq_f32(less_starts[two], sum, scales[two]);
      sums[two][pair] = vfmaq_f32(sums[two][pair], scaled, of_x);
      if constexpr (requires(const Block& block) { block.base; }) {
        sums[two][pair] = vfmaq_f32(sums[two][pair], bases[two], vld1q_f32(in.scaled_sums));
      }
    });
  });
}

// Rows of x from `first` on, two rows of weights `twos` times at once. Those stand a part of the columns apart: as many
// long streams, which the machine's prefetching follows; neighbours would be as many short ones.
template <class Block, int pairs>
void multiply_columns(const Gemm& gemm, const PairedBlock32* x, std::int64_t first, std::int64_t begin,
                      std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 32;
  const std::int64_t apart = (end - begin + 2 * twos - 1) / (2 * twos);
  for (std::int64_t column = begin; column < begin + apart; ++column) {
    // A row past the end repeats the last one; what it gives is not stored.
    const Block* weights[2 * twos];
    float32x4_t sums[twos][pairs];
    unrolled<2 * twos>(INGOT_UNROLLED(i) {
      const std::int64_t at = std::min(column + i * apart, end - 1);
      weights[i] = reinterpret_cast<const Block*>(gemm.right.data + at * gemm.right.width_stride);
    });
    unrolled<twos * pairs>(INGOT_UNROLLED(i) { sums[i / pairs][i % pairs] = vdupq_n_f32(0); });
    for (std::int64_t b = 0; b < blocks; ++b) add_block<Block, pairs>(weights, b, x + b, blocks, sums);
    float results[twos][pairs][2][2];  // [..][row of weights][row of x]; from registers once, not in each turn
    unrolled<twos * pairs>(
        INGOT_UNROLLED(i) { vst1q_f32(results[i / pairs][i % pairs][0], sums[i / pairs][i % pairs]); });
    for (int i = 0; i < 2 * twos && column + i * apart < end; ++i) {
      const std::int64_t at = column + i * apart;
      for (std::int64_t row = 0; row < std::min<std::int64_t>(2 * pairs, gemm.rows - first); ++row) {
        gemm.out[(first + row) * gemm.out_stride + at] =
            results[i / 2][row / 2][i % 2][row % 2] + (gemm.bias == nullptr ? 0.0f : gemm.bias[at]);
      }
    }
  }
}

// Eight rows of x at a time: their sums with four rows of weights are eight registers.
void columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    if constexpr (Block::elements == 32) {
      using Multiply = void (*)(const Gemm&, const PairedBlock32*, std::int64_t, std::int64_t, std::int64_t);
      constexpr Multiply by_pairs[] = {multiply_columns<Block, 1>, multiply_columns<Block, 2>,
                                       multiply_columns<Block, 3>, multiply_columns<Block, 4>};
      const auto* x = reinterpret_cast<const PairedBlock32*>(coded);
      for (std::int64_t row = 0; row < gemm.rows; row += 8) {
        const std::int64_t pairs = std::min<std::int64_t>(4, (gemm.rows - row + 1) / 2);
        by_pairs[pairs - 1](gemm, x + row / 2 * (gemm.depth / 32), row, begin, end);
      }
    }
  });
}

constexpr DotProduct product = {encode, columns, 512 << 10};

}  // namespace

const DotProduct* const gemm_codes_neon_i8mm = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
