// Two to 32 rows of x and interleaved weights by SMMLA, which wants eight codes of a row together: quads of four
// rows that stand side by side are zipped, those of nibbles before they are taken apart. With four rows of x eight
// blocks of Q4_0 take 80 slots of the vector pipes (32 multiply, 24 unpack, 24 scale) where products by lanes (SDOT)
// would take 100, with two 56 and 60.
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"

#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/base.h"
#include "kernels/linear/ways/dots/coded_spans.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod+i8mm")

namespace ingot {
namespace {

// Each builds on the one before it.
#include "kernels/linear/instructions/unrolled-inl.h"
//
#include "kernels/linear/instructions/every_vector_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/pairs_of_x_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/interleaved_pairs_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q4_0_pairs_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q8_0_pairs_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/half_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q4_0_half_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/q8_0_half_braids_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/even_pairs_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/interleaved_pairs_256_neon-inl.h"

// Braids from far apart side by side, where registers suffice: the memory answers several long streams faster than one.
template <class Block, int pairs>
void multiply_braids(const Matmul::Arguments& a, const std::byte* prepared) {
  constexpr int at_once = braids_at_once<Block, pairs>;
  const auto [x, unscale] = prepared_x<Block, pairs>(prepared);
  const std::int64_t blocks = a.x.size(1) / Block::elements, braids = a.y.size(1) / interleaved_rows;
  const std::int64_t length = (braids + at_once - 1) / at_once;
  const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
  for (std::int64_t first = 0; first < length; ++first) {
    std::int64_t braid[at_once];
    const InterleavedBlocks<Block>* of_braids[at_once];
    for (int i = 0; i < at_once; ++i) {
      braid[i] = std::min(first + i * length, braids - 1);  // the last one twice where they are odd
      of_braids[i] = weights + braid[i] * blocks;
    }
    PairTotals<pairs> totals[at_once];
    multiply_pairs(of_braids, blocks, x, totals);
    for (int i = 0; i < at_once; ++i) store_totals<pairs>(a, unscale, 0, braid[i], totals[i]);
  }
}

// Some braids at a time, part by part of their depth.
template <class Block>
void multiply_half_braids(const Matmul::Arguments& a, const std::byte* prepared) {
  constexpr std::int64_t braids_at_a_time = 32;
  // With as much of x a part of 4 KiB stays in the first-level cache; asked for further ahead, memory answers slower.
  constexpr std::int64_t part = 4096 / sizeof(InterleavedBlocks<Block>);
  const std::int64_t blocks = a.x.size(1) / 32, all_braids = a.y.size(1) / interleaved_rows;
  const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
  for (std::int64_t first = 0; first < all_braids; first += braids_at_a_time) {
    const std::int64_t braids = std::min(braids_at_a_time, all_braids - first);
    float totals[braids_at_a_time][2][sizeof(PairTotals<4>) / sizeof(float)] = {};
    for (std::int64_t begin = 0; begin < blocks; begin += part) {
      const std::int64_t count = std::min(part, blocks - begin);
      for (std::int64_t braid = 0; braid < braids; ++braid) {
        const auto* from = weights + (first + braid) * blocks + begin;
        const auto* next = braid + 1 < braids       ? from + blocks
                           : begin + count < blocks ? weights + first * blocks + begin + count
                                                    : from + count;
        int set = 0;
        for_sets(a, [&]<int pairs>(std::int64_t, std::size_t place) {
          if constexpr (pairs > 2) {  // fewer have loops of their own
            const auto& x = *reinterpret_cast<const PairsOfX<pairs>*>(prepared + place);
            auto& of_set = reinterpret_cast<HalfBraidTotals<pairs>(&)[2]>(totals[braid][set++]);
            for (int half = 0; half < 2; ++half) {
              const auto* ahead = reinterpret_cast<const std::byte*>(next) + half * count * (sizeof(*next) / 2);
              multiply_half_braid(HalfBraid<Block>(from, half), count, x.blocks() + begin, ahead, of_set[half]);
            }
          }
        });
      }
    }
    for (std::int64_t braid = 0; braid < braids; ++braid) {
      int set = 0;
      for_sets(a, [&]<int pairs>(std::int64_t row, std::size_t place) {
        const auto& x = *reinterpret_cast<const PairsOfX<pairs>*>(prepared + place);
        store_totals<pairs>(a, x.unscale, row, first + braid,
                            reinterpret_cast<const PairTotals<pairs>&>(totals[braid][set++]));
      });
    }
  }
}

std::int64_t rows_together(const Matmul::Arguments& a) {
  return keeps_code_bytes(a.weights.dtype()) ? most_set_rows : 4;
}

// Two turns take less than panels do, which unpack all weights first.
bool accepts(const Matmul::Arguments& a) {
  return a.x.size(0) > 1 && a.x.size(0) <= 2 * rows_together(a) && a.x.size(1) > 0;
}

std::size_t prepared_bytes(const Matmul::Arguments& a) {
  if (block_elements(a.weights.dtype()) == 256) return prepared_256_bytes(a);
  std::size_t bytes = 0;
  for_sets(a, [&]<int pairs>(std::int64_t, std::size_t place) {
    bytes = place + sizeof(PairsOfX<pairs>) + static_cast<std::size_t>(a.x.size(1) / 32) * sizeof(PairsBlock<pairs>);
  });
  return bytes;
}

void prepare(const Matmul::Arguments& a, Workers& workers, std::byte* prepared) {
  with_interleaved_type(a.weights.dtype(), [&]<class Block>() {
    if constexpr (Block::elements == 256) {
      (a.x.size(0) <= 2 ? prepare_pairs_256<1> : prepare_pairs_256<2>)(a, workers, prepared);
    } else {
      for_sets(a, [&]<int pairs>(std::int64_t row, std::size_t place) {
        constexpr bool is_even = std::is_same_v<Block, BlockQ5_0>;
        prepare_pairs<pairs>(a, row, stored_offset<Block>, is_even ? ScalesOfX::as_they_are : ScalesOfX::settled,
                             workers, prepared + place);
      });
    }
  });
}

void columns(const Matmul::Arguments& a, const std::byte* prepared) {
  with_interleaved_type(a.weights.dtype(), [&]<class Block>() {
    if constexpr (std::is_same_v<Block, BlockQ4_0> || std::is_same_v<Block, BlockQ8_0>) {
      if (a.x.size(0) > 4) return multiply_half_braids<Block>(a, prepared);
    }
    (a.x.size(0) <= 2 ? multiply_braids<Block, 1> : multiply_braids<Block, 2>)(a, prepared);
  });
}

constexpr BraidProduct product = {accepts, prepared_bytes, prepare, columns, 512 << 10, rows_together};

}  // namespace

const BraidProduct* const interleaved_neon_i8mm = &product;

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
#undef INGOT_EVERY_VECTOR
#undef INGOT_LOAD_HALVES
#undef INGOT_TAKE
#undef INGOT_ADVANCE_HALF
HWY_POP_ATTRIBUTES
