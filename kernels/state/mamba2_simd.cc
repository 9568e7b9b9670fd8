// Vector Mamba 2. Lanes run along N; a task is a block of rows of one head's matrix for all time, small enough to stay
// in the first-level cache from token to token. Four rows at once share the loads of B and C and hide the add's
// latency.
// Short loops over arrays of vectors are unrolled by name: GCC at -O2 would keep the arrays in memory.
#include <algorithm>
#include <cmath>

#include "kernels/state/mamba2.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/state/mamba2_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t block_rows = 16;

// What a token brings to one head.
struct Token {
  const float* input_projection;
  const float* output_projection;
  float factor;
};

// Advances `rows` rows of the memory over the columns [column, memories) as far as D's lanes fit, and adds
// <C, h[row]> to sums.
template <int rows, class D>
HWY_INLINE std::int64_t advance_columns(D d, const Token& token, float* state, std::int64_t stride, const float* driven,
                                        std::int64_t column, std::int64_t memories, float* sums) {
  using V = hn::Vec<D>;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const V factor = hn::Set(d, token.factor);
  V sum[rows];
#pragma GCC unroll 4
  for (int row = 0; row < rows; ++row) sum[row] = hn::Zero(d);
  for (; column + lanes <= memories; column += lanes) {
    const V input = hn::LoadU(d, token.input_projection + column);
    const V output = hn::LoadU(d, token.output_projection + column);
#pragma GCC unroll 4
    for (int row = 0; row < rows; ++row) {
      float* memory = state + row * stride + column;
      const V next = hn::MulAdd(hn::Set(d, driven[row]), input, hn::Mul(factor, hn::LoadU(d, memory)));
      hn::StoreU(next, d, memory);
      sum[row] = hn::MulAdd(next, output, sum[row]);
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < rows; ++row) sums[row] += hn::GetLane(hn::SumOfLanes(d, sum[row]));
  return column;
}

template <int rows>
void advance_rows(const Mamba2::Arguments& a, std::int64_t batch, std::int64_t t, std::int64_t head, std::int64_t p,
                  const Token& token) {
  const std::int64_t memories = a.input_projection.size(3);
  const std::int64_t stride = a.final_state.stride(2);
  float* state = &a.final_state(batch, head, p, 0);
  const float delta = a.delta(batch, t, head);
  float driven[rows];
  float sums[rows];
#pragma GCC unroll 4
  for (int row = 0; row < rows; ++row) {
    const float x = a.x(batch, t, head, p + row);
    driven[row] = delta * x;
    sums[row] = is_present(a.skip) ? a.skip(head) * x : 0.0f;
  }
  const std::int64_t done =
      advance_columns<rows>(hn::ScalableTag<float>(), token, state, stride, driven, 0, memories, sums);
  advance_columns<rows>(hn::CappedTag<float, 1>(), token, state, stride, driven, done, memories, sums);
#pragma GCC unroll 4
  for (int row = 0; row < rows; ++row) a.y(batch, t, head, p + row) = sums[row];
}

void scan_rows(const Mamba2::Arguments& a, std::int64_t batch, std::int64_t head, std::int64_t begin,
               std::int64_t end) {
  const std::int64_t memories = a.input_projection.size(3);
  const std::int64_t head_group = head / (a.x.size(2) / a.input_projection.size(2));
  for (std::int64_t p = begin; p < end; ++p) {
    float* row = &a.final_state(batch, head, p, 0);
    if (!is_present(a.initial_state)) {
      std::fill_n(row, memories, 0.0f);
    } else if (const float* from = &a.initial_state(batch, head, p, 0); from != row) {
      std::copy_n(from, memories, row);
    }
  }
  for (std::int64_t t = 0; t < a.x.size(1); ++t) {
    const Token token = {&a.input_projection(batch, t, head_group, 0), &a.output_projection(batch, t, head_group, 0),
                         std::exp(a.delta(batch, t, head) * a.transition(head))};
    std::int64_t p = begin;
    for (; p + 4 <= end; p += 4) advance_rows<4>(a, batch, t, head, p, token);
    for (; p < end; ++p) advance_rows<1>(a, batch, t, head, p, token);
  }
}

void mamba2(const Mamba2::Arguments& a, Context& context) {
  if (a.x.size(0) == 0) return;
  const std::int64_t heads = a.x.size(2);
  const std::int64_t width = a.x.size(3);
  const std::int64_t blocks = divide_rounding_up(width, block_rows);
  const std::int64_t block_bytes =
      static_cast<std::int64_t>(2 * sizeof(float)) * block_rows * a.input_projection.size(3) * (a.x.size(1) + 1);
  context.workers.for_chunks(
      a.x.size(0) * heads * blocks, rows_per_chunk(block_bytes), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t first = task % blocks * block_rows;
          scan_rows(a, task / blocks / heads, task / blocks % heads, first, std::min(first + block_rows, width));
        }
      });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Mamba2> mamba2_simd = INGOT_SIMD_ENTRIES(mamba2);
}  // namespace ingot
#endif
