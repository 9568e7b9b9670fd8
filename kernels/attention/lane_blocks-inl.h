// Blocks of tiled attention for NEON, whose multiply-add takes one lane of a register as the factor of all lanes.
// Included after hwy/highway.h; the guard toggles with each target.
//
// Where four factors are neighbours in memory one load brings them: 5 loads for 16 multiply-adds instead of 8. Blocks
// of 4 x 4 vectors reach 88 % of the multiply-adds of a Neoverse-V1 (4 a cycle, latency 4: 16 sums are just enough)
// that way, and 70 % with a load for each factor. Keys are turned over for it, once for all rows that they meet.
#if defined(INGOT_KERNELS_ATTENTION_LANE_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_LANE_BLOCKS_INL_H_
#undef INGOT_KERNELS_ATTENTION_LANE_BLOCKS_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_LANE_BLOCKS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attention/tiles.h"

#if HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

using QuadVector = hwy::HWY_NAMESPACE::Vec128<float>;

// sum + value times one lane of the four factors.
template <int Lane>
HWY_INLINE QuadVector add_lane_product(QuadVector sum, QuadVector value, QuadVector factors) {
  return QuadVector{vfmaq_laneq_f32(sum.raw, value.raw, factors.raw, Lane)};
}

enum class Sums : std::uint8_t { start_at_zero, go_on };

// outputs[r][lane] = (before +) sum_k factors[k step + r] values[k][lane], for four rows and Vectors vectors.
template <Sums start, int Vectors>
HWY_INLINE void lane_block(const float* factors, std::int64_t step, std::int64_t count, const float* values,
                           std::int64_t value_stride, float* outputs, std::int64_t output_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full128<float> d;
  constexpr std::int64_t lanes = 4;
  QuadVector sums[4][Vectors];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      sums[r][v] = start == Sums::go_on ? hn::LoadU(d, outputs + r * output_stride + v * lanes) : hn::Zero(d);
    }
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const auto four = hn::LoadU(d, factors + k * step);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const auto value = hn::LoadU(d, values + k * value_stride + v * lanes);
      sums[0][v] = add_lane_product<0>(sums[0][v], value, four);
      sums[1][v] = add_lane_product<1>(sums[1][v], value, four);
      sums[2][v] = add_lane_product<2>(sums[2][v], value, four);
      sums[3][v] = add_lane_product<3>(sums[3][v], value, four);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[r][v], d, outputs + r * output_stride + v * lanes);
  }
}

// The same for any number of vectors.
template <Sums start>
HWY_INLINE void lane_rows(const float* factors, std::int64_t step, std::int64_t count, const float* values,
                          std::int64_t value_stride, float* outputs, std::int64_t output_stride, std::int64_t vectors) {
  std::int64_t v = 0;
  for (; v + 4 <= vectors; v += 4) {
    lane_block<start, 4>(factors, step, count, values + 4 * v, value_stride, outputs + 4 * v, output_stride);
  }
  for (; v < vectors; ++v) {
    lane_block<start, 1>(factors, step, count, values + 4 * v, value_stride, outputs + 4 * v, output_stride);
  }
}

// turned[i][k] = keys[k][i], where turned has key_tile keys. Keys behind the count, up to a multiple of four, repeat
// the last one: their products are never looked at.
inline void turn_keys(WholeRows keys, std::int64_t count, std::int64_t dimensions, float* turned) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  for (std::int64_t k = 0; k < count; k += 4) {
    const float* row[4];
    for (std::int64_t r = 0; r < 4; ++r) row[r] = keys.data + std::min(k + r, count - 1) * keys.stride;
    float* to = turned + k;
    std::int64_t i = 0;
    for (; i + 4 <= dimensions; i += 4) {
      const auto a = hn::LoadU(d, row[0] + i), b = hn::LoadU(d, row[1] + i);
      const auto c = hn::LoadU(d, row[2] + i), e = hn::LoadU(d, row[3] + i);
      const auto low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
      const auto high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
      const auto other_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
      const auto other_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low, other_low)), d, to + i * key_tile);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low, other_low)), d, to + (i + 1) * key_tile);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high, other_high)), d, to + (i + 2) * key_tile);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high, other_high)), d, to + (i + 3) * key_tile);
    }
    for (; i < dimensions; ++i) {
      for (std::int64_t r = 0; r < 4; ++r) to[i * key_tile + r] = row[r][i];
    }
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggling guard
