// Few rows of activations and weights in a block format, with byte dot products (VPDPBUSD): an unsigned byte of the
// left times a signed byte of the right, four of them into a 32-bit lane. Weights are made unsigned by an offset, whose
// share of the sum is known from the activations alone, so every sum is the exact integer of the contract.
#include "kernels/linear/coded_spans.h"
#include "kernels/linear/gemm.h"

#if defined(__x86_64__)
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/avx512_intrinsics.h"
#include "tensor/block_scales.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {

#include "kernels/linear/codes_32_avx512_vnni-inl.h"
// The second builds on the first.
#include "kernels/linear/codes_256_avx512_vnni-inl.h"

// -offset * (the sum of each four codes)
HWY_INLINE __m512i correction(__m512i sum, const std::int8_t (&codes)[64], int offset) {
  const __m512i offsets = _mm512_set1_epi8(static_cast<char>(offset));
  return _mm512_sub_epi32(sum, _mm512_dpbusd_epi32(_mm512_setzero_si512(), offsets, _mm512_load_si512(codes)));
}

void fill_span(const float* x, std::int64_t blocks, int offset, CodedSpan32& span) {
  span = {};  // blocks past the end count for nothing
  for (std::int64_t b = 0; b < blocks; ++b) {
    alignas(64) std::int8_t codes[32];
    std::int32_t sums[2];
    const float scale = encode_activation_block.widest()(x + 32 * b, 32, codes, sums);
    std::memcpy(span.codes[0] + 16 * b, codes, 16);
    std::memcpy(span.codes[1] + 16 * b, codes + 16, 16);
    span.scales[b] = scale;
    span.scaled_sums[b] = scale * static_cast<float>(sums[0] + sums[1]);
  }
  const __m512i first = correction(_mm512_setzero_si512(), span.codes[0], offset);
  _mm512_store_si512(span.corrections, correction(first, span.codes[1], offset));
}

template <class Block>
void fill_span(const float* x, CodedSpan256& span) {
  alignas(64) std::int8_t codes[256];
  std::int32_t sums[16];
  span = {};
  span.scale = encode_activation_block.widest()(x, 256, codes, sums);
  for (int unit = 0; unit < 16; ++unit) {
    std::memcpy(&span.codes[unit / 4][unit % 4 * 16], codes + 16 * CodedOrder<Block>::units[unit], 16);
    span.sums[unit * 16 / Block::group] = static_cast<std::int16_t>(span.sums[unit * 16 / Block::group] + sums[unit]);
  }
  for (int i = 0; i < 4; ++i) {
    _mm512_store_si512(span.corrections[i], correction(_mm512_setzero_si512(), span.codes[i], code_offset<Block>));
  }
}

template <class Block>
void fill_spans(const Gemm& gemm, std::byte* scratch) {
  for (std::int64_t row = 0; row < gemm.rows; ++row) {
    const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
    if constexpr (Block::elements == 32) {
      const std::int64_t blocks = gemm.depth / 32;
      auto* spans = reinterpret_cast<CodedSpan32*>(scratch) + row * ((blocks + 3) / 4);
      for (std::int64_t b = 0; b < blocks; b += 4) {
        fill_span(x + 32 * b, std::min<std::int64_t>(4, blocks - b), code_offset<Block>, spans[b / 4]);
      }
    } else {
      auto* spans = reinterpret_cast<CodedSpan256*>(scratch) + row * (gemm.depth / 256);
      for (std::int64_t b = 0; b < gemm.depth / 256; ++b) fill_span<Block>(x + 256 * b, spans[b]);
    }
  }
}

template <class Block, int rows>
void multiply_columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  if constexpr (Block::elements == 32) {
    multiply_columns_32<Block, rows>(gemm, coded, begin, end);
  } else {
    multiply_columns_256<Block, rows>(gemm, coded, begin, end);
  }
}

template <class Block>
constexpr auto columns_of_rows() {
  using Columns = void (*)(const Gemm&, const std::byte*, std::int64_t, std::int64_t);
  return std::array<Columns, dot_rows>{multiply_columns<Block, 1>, multiply_columns<Block, 2>,
                                       multiply_columns<Block, 3>, multiply_columns<Block, 4>};
}

void encode(const Gemm& gemm, std::byte* coded) {
  with_block_type(gemm.right.dtype, [&]<class Block>() { fill_spans<Block>(gemm, coded); });
}

void columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    columns_of_rows<Block>()[static_cast<std::size_t>(gemm.rows - 1)](gemm, coded, begin, end);
  });
}

constexpr DotProduct product = {encode, columns};

}  // namespace

const DotProduct* const gemm_codes_avx512_vnni = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const DotProduct* const gemm_codes_avx512_vnni = nullptr;
}  // namespace ingot

#endif
