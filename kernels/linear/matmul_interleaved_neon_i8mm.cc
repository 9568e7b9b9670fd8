// Two to four rows of x and interleaved weights by SMMLA, which wants eight codes of a row together: quads of four rows
// that stand side by side are zipped, those of nibbles before they are taken apart. With four rows of x a group of Q4_0
// blocks takes 80 slots of the vector pipes (32 multiply, 24 unpack, 24 scale) where products by lanes (SDOT) would
// take 100, with two 56 and 60.
#include "kernels/linear/matmul_interleaved.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/coded_spans.h"
#include "kernels/linear/gemm.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/unrolled-inl.h"
//
#include "kernels/linear/interleaved_pairs_neon-inl.h"
//
#include "kernels/linear/q4_0_pairs_neon-inl.h"
//
#include "kernels/linear/q8_0_pairs_neon-inl.h"

// Sums of a group with all rows of x.
template <int pairs>
void store_totals(const Matmul::Arguments& a, const float* unscale, std::int64_t group,
                  const PairTotals<pairs>& totals) {
  for (std::int64_t row = 0; row < a.y.size(0); ++row) {
    float* to = &a.y(row, group * interleaved_rows);
    for (int i = 0; i < interleaved_rows; ++i) {
      const float total = totals[i / 2][row / 2][i % 2 * 2 + row % 2] * unscale[row];
      to[i] = total + (a.bias.data() == nullptr ? 0.0f : a.bias.data()[group * interleaved_rows + i]);
    }
  }
}

// Groups from far apart side by side, where registers suffice: the memory answers several long streams faster than one.
template <class Block, int pairs>
void multiply_groups(const Matmul::Arguments& a, const std::byte* prepared) {
  constexpr int at_once = groups_at_once<Block, pairs>;
  const auto& x = *reinterpret_cast<const PairsOfX<pairs>*>(prepared);
  const std::int64_t blocks = a.x.size(1) / 32, groups = a.y.size(1) / interleaved_rows;
  const std::int64_t length = (groups + at_once - 1) / at_once;
  const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
  for (std::int64_t first = 0; first < length; ++first) {
    std::int64_t group[at_once];
    const InterleavedBlocks<Block>* of_groups[at_once];
    for (int i = 0; i < at_once; ++i) {
      group[i] = std::min(first + i * length, groups - 1);  // the last one twice where they are odd
      of_groups[i] = weights + group[i] * blocks;
    }
    PairTotals<pairs> totals[at_once];
    multiply_pairs(of_groups, blocks, x.blocks(), totals);
    for (int i = 0; i < at_once; ++i) store_totals<pairs>(a, x.unscale, group[i], totals[i]);
  }
}

bool accepts(const Matmul::Arguments& a) {
  return a.x.size(0) > 1 && a.x.size(0) <= 4 && a.x.size(1) > 0 && keeps_code_bytes(a.weights.dtype());
}

std::size_t prepared_bytes(const Matmul::Arguments& a) {
  const auto blocks = static_cast<std::size_t>(a.x.size(1) / 32);
  return a.x.size(0) == 2 ? sizeof(PairsOfX<1>) + blocks * sizeof(PairsBlock<1>)
                          : sizeof(PairsOfX<2>) + blocks * sizeof(PairsBlock<2>);
}

void prepare(const Matmul::Arguments& a, std::byte* prepared) {
  with_kept_bytes_type(a.weights.dtype(), [&]<class Block>() {
    (a.x.size(0) == 2 ? prepare_pairs<1> : prepare_pairs<2>)(a, stored_offset<Block>, prepared);
  });
}

void columns(const Matmul::Arguments& a, const std::byte* prepared) {
  with_kept_bytes_type(a.weights.dtype(), [&]<class Block>() {
    (a.x.size(0) == 2 ? multiply_groups<Block, 1> : multiply_groups<Block, 2>)(a, prepared);
  });
}

constexpr GroupProduct product = {accepts, prepared_bytes, prepare, columns, 512 << 10};

}  // namespace

const GroupProduct* const interleaved_neon_i8mm = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
#undef INGOT_LOAD
#undef INGOT_ZIP1
#undef INGOT_ZIP2
#undef INGOT_LOW
#undef INGOT_HIGH
#undef INGOT_MULTIPLY
#undef INGOT_ADD
#undef INGOT_WIDEN_LOW
#undef INGOT_WIDEN_HIGH
#undef INGOT_ASK
#undef INGOT_KEEP
#undef INGOT_STEP
#undef INGOT_NEXT_ONE
#undef INGOT_NEXT_TWO
#undef INGOT_ADVANCE_X
#undef INGOT_ADVANCE_ONE
#undef INGOT_ADVANCE_TWO
#undef INGOT_STORE
#undef INGOT_CLEAR
#undef INGOT_ALL_VECTORS
HWY_POP_ATTRIBUTES

#else

namespace ingot {
const GroupProduct* const interleaved_neon_i8mm = nullptr;
}  // namespace ingot

#endif
