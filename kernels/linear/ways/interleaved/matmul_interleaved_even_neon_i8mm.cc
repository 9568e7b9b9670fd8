// Two to sixteen rows of x and interleaved weights in blocks of 32 by SMMLA, summed as every even way sums
// (even_pairs_neon-inl.h): what matmul_interleaved_neon_i8mm.cc computes a little faster in an order of its own.
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
#include "kernels/linear/ways/interleaved/pairs_of_x_neon-inl.h"
//
#include "kernels/linear/ways/interleaved/even_pairs_neon-inl.h"

// What matmul_interleaved_neon_i8mm.cc takes of these formats.
bool accepts(const Matmul::Arguments& a) {
  return a.x.size(0) > 1 && a.x.size(0) <= (keeps_code_bytes(a.weights.dtype()) ? most_set_rows : 4) &&
         a.x.size(1) > 0 && block_elements(a.weights.dtype()) == 32;
}

template <class Function>
void with_even_type(DType dtype, Function function) {
  if (dtype == DType::q8_0) return function.template operator()<BlockQ8_0>();
  if (dtype == DType::q5_0) return function.template operator()<BlockQ5_0>();
  function.template operator()<BlockQ4_0>();
}

std::size_t prepared_bytes(const Matmul::Arguments& a) {
  std::size_t bytes = 0;
  for_sets(a, [&]<int pairs>(std::int64_t, std::size_t place) {
    bytes = place + sizeof(PairsOfX<pairs>) + static_cast<std::size_t>(a.x.size(1) / 32) * sizeof(PairsBlock<pairs>);
  });
  return bytes;
}

void prepare(const Matmul::Arguments& a, Workers& workers, std::byte* prepared) {
  with_even_type(a.weights.dtype(), [&]<class Block>() {
    for_sets(a, [&]<int pairs>(std::int64_t row, std::size_t place) {
      prepare_pairs<pairs>(a, row, stored_offset<Block>, ScalesOfX::as_they_are, workers, prepared + place);
    });
  });
}

template <class Block, int pairs>
void multiply_braid(const InterleavedBlocks<Block>* weights, std::int64_t blocks, const PairsBlock<pairs>* x,
                    PairTotals<pairs>& totals) {
  // All eight rows at once, where registers suffice: they share what is loaded of x.
  constexpr int at_once = pairs <= 2 ? 2 : 1;
  for (int first = 0; first < 2; first += at_once) {
    FourRows<pairs, float32x4_t> sums[at_once] = {};
    for (std::int64_t b = 0; b < blocks; ++b) {
      unrolled<at_once>(
          INGOT_UNROLLED(half) { add_four_rows<pairs>(weights[b], 4 * (first + half), x[b], sums[half]); });
    }
    for (int i = 0; i < at_once * 2 * pairs; ++i) {
      const int two = i / pairs, pair = i % pairs;
      vst1q_f32(totals[2 * first + two][pair], sums[two / 2][two % 2][pair]);
    }
  }
}

void columns(const Matmul::Arguments& a, const std::byte* prepared) {
  with_even_type(a.weights.dtype(), [&]<class Block>() {
    const std::int64_t blocks = a.x.size(1) / 32;
    const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
    for (std::int64_t braid = 0; braid < a.y.size(1) / interleaved_rows; ++braid) {
      for_sets(a, [&]<int pairs>(std::int64_t row, std::size_t place) {
        const auto& x = *reinterpret_cast<const PairsOfX<pairs>*>(prepared + place);
        PairTotals<pairs> totals;
        multiply_braid<Block, pairs>(weights + braid * blocks, blocks, x.blocks(), totals);
        store_totals<pairs>(a, x.unscale, row, braid, totals);
      });
    }
  });
}

constexpr BraidProduct product = {accepts, prepared_bytes, prepare, columns, 512 << 10};

}  // namespace

const BraidProduct* const interleaved_even_neon_i8mm = &product;

}  // namespace ingot

#undef INGOT_UNROLLED
HWY_POP_ATTRIBUTES
