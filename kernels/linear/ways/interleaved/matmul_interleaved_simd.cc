// Weights of eight rows at once, a lane each: their codes are words of two bytes, multiplied and added in pairs.
#include <algorithm>
#include <cstring>

#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/interleaved.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/ways/interleaved/matmul_interleaved_simd.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/activation_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/linear/ways/interleaved/matmul_interleaved-inl.h"

using Words = hn::CappedTag<std::int16_t, 2 * interleaved_rows>;
using Integers = hn::RepartitionToWide<Words>;
using Floats = hn::RebindToFloat<Integers>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(Integers()));  // rows of weights in a vector
constexpr int vectors = interleaved_rows / lanes;

// sum[i] + a[2 i] b[2 i] + a[2 i + 1] b[2 i + 1], lanes in order.
HWY_INLINE hn::Vec<Integers> add_pairs(hn::Vec<Words> a, hn::Vec<Words> b, hn::Vec<Integers> sum) {
#if HWY_TARGET == HWY_NEON
  const int32x4_t low = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
  const int32x4_t high = vmull_high_s16(a.raw, b.raw);
  return hn::Vec<Integers>(vaddq_s32(sum.raw, vpaddq_s32(low, high)));
#else
  auto unused = hn::Zero(Integers());  // x86 adds neighbours in one instruction
  return hn::ReorderWidenMulAccumulate(Integers(), a, b, sum, unused);
#endif
}

HWY_INLINE hn::Vec<Words> pair(const CodedBlock& x, int index) {
  std::int32_t both;
  std::memcpy(&both, x.pairs[index], sizeof(both));
  return hn::BitCast(Words(), hn::Set(Integers(), both));
}

template <class Block>
constexpr int code_offset = std::is_same_v<Block, BlockQ4_0> ? 8 : 0;

// Adds codes of four bytes a row, those that begin at quad i, times x.
template <class Block, int rows>
HWY_INLINE void add_quads(hn::Vec<Words> words, int i, const CodedBlock* const (&x)[rows],
                          hn::Vec<Integers> (&sums)[rows]) {
  if constexpr (std::is_same_v<Block, BlockQ4_0>) {  // a byte holds elements j and j + 16
    const hn::RebindToUnsigned<Words> bits;
    const auto nibble = hn::Set(bits, 15);
    const auto packed = hn::BitCast(bits, words);
    const auto low_even = hn::BitCast(Words(), hn::And(packed, nibble));
    const auto low_odd = hn::BitCast(Words(), hn::And(hn::ShiftRight<8>(packed), nibble));
    const auto high_even = hn::BitCast(Words(), hn::And(hn::ShiftRight<4>(packed), nibble));
    const auto high_odd = hn::BitCast(Words(), hn::ShiftRight<12>(packed));
    for (int row = 0; row < rows; ++row) {
      sums[row] = add_pairs(low_even, pair(*x[row], 2 * i), sums[row]);
      sums[row] = add_pairs(low_odd, pair(*x[row], 2 * i + 1), sums[row]);
      sums[row] = add_pairs(high_even, pair(*x[row], 2 * i + 8), sums[row]);
      sums[row] = add_pairs(high_odd, pair(*x[row], 2 * i + 9), sums[row]);
    }
  } else {
    const auto even = hn::ShiftRight<8>(hn::ShiftLeft<8>(words));
    const auto odd = hn::ShiftRight<8>(words);
    for (int row = 0; row < rows; ++row) {
      sums[row] = add_pairs(even, pair(*x[row], 2 * i), sums[row]);
      sums[row] = add_pairs(odd, pair(*x[row], 2 * i + 1), sums[row]);
    }
  }
}

template <class Block, int rows>
struct Columns {
  static void run(const Matmul::Arguments& a, const CodedBlock* coded, std::int64_t first_row) {
    const std::int64_t blocks = a.x.size(1) / 32;
    const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
    const hn::Rebind<hwy::float16_t, Floats> halves;
    for (std::int64_t braid = 0; braid < a.y.size(1) / interleaved_rows; ++braid) {
      hn::Vec<Floats> totals[rows][vectors];
      for (auto& of_row : totals) std::fill_n(of_row, vectors, hn::Zero(Floats()));
      for (std::int64_t b = 0; b < blocks; ++b, ++weights) {
        prefetch(weights);
        const CodedBlock* x[rows];
        for (int row = 0; row < rows; ++row) x[row] = coded + (first_row + row) * blocks + b;
        for (int v = 0; v < vectors; ++v) {
          hn::Vec<Integers> sums[rows];
          for (int row = 0; row < rows; ++row) sums[row] = hn::Set(Integers(), -code_offset<Block> * x[row]->sum);
          for (int i = 0; i < InterleavedBlocks<Block>::quads; ++i) {
            const auto* codes = reinterpret_cast<const std::int16_t*>(weights->codes[i][v * lanes]);
            add_quads<Block, rows>(hn::LoadU(Words(), codes), i, x, sums);
          }
          const auto* stored = reinterpret_cast<const hwy::float16_t*>(weights->scales + v * lanes);
          const auto scales = hn::PromoteTo(Floats(), hn::LoadU(halves, stored));
          for (int row = 0; row < rows; ++row) {
            // Not the product of both scales first: it may lie below the normal range where the sum does not.
            const auto sum = hn::Mul(hn::ConvertTo(Floats(), sums[row]), hn::Set(Floats(), x[row]->scale));
            totals[row][v] = hn::MulAdd(sum, scales, totals[row][v]);
          }
        }
      }
      for (int row = 0; row < rows; ++row) {
        float* out = &a.y(first_row + row, braid * interleaved_rows);
        const float* bias = a.bias.data() == nullptr ? nullptr : a.bias.data() + braid * interleaved_rows;
        for (int v = 0; v < vectors; ++v) {
          auto total = totals[row][v];
          if (bias != nullptr) total = hn::Add(total, hn::LoadU(Floats(), bias + v * lanes));
          hn::StoreU(total, Floats(), out + v * lanes);
        }
      }
    }
  }
};

float encode(const float* x, int block, std::int8_t* codes, std::int32_t* sums) {
  return encode_activations_vector(x, block, codes, sums);
}
void prepare(const Matmul::Arguments& a, Workers&, std::byte* prepared) {
  code_rows(a, encode, reinterpret_cast<CodedBlock*>(prepared));
}

constexpr BraidProduct product = {keeps_bytes, coded_bytes, prepare, multiply_coded<Columns>};

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

const PerTarget<const BraidProduct*> interleaved_simd = INGOT_SIMD_ENTRIES(product);

}  // namespace ingot
#endif
