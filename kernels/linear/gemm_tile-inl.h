// The register tile: the innermost product, one per target. Included inside gemm_simd.cc after hwy/highway.h.
//
// A fused multiply-add takes 4 cycles and two start each cycle, so at least 8 independent sums are needed; more rows
// mean fewer loads a product. The tile is two vectors wide, and as tall as registers allow: with 32 of them (AVX-512,
// NEON) 12 x 2 sums + 2 vectors of the right operand + broadcasts of the left one; with 16 (AVX2, SSE4) 6 x 2 + 2 + 1,
// plus the product that SSE4, which cannot fuse, keeps before it adds.
#if defined(INGOT_KERNELS_LINEAR_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_GEMM_TILE_INL_H_
#undef INGOT_KERNELS_LINEAR_GEMM_TILE_INL_H_
#else
#define INGOT_KERNELS_LINEAR_GEMM_TILE_INL_H_
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#if HWY_TARGET == HWY_NEON
#include "kernels/linear/gemm_tile_neon-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
inline constexpr int tile_rows = 6;
#else
inline constexpr int tile_rows = 12;
#endif
// Every target here has vectors of a fixed size.
inline constexpr int tile_lanes = HWY_MAX_BYTES / sizeof(float);
inline constexpr int tile_columns = 2 * tile_lanes;
using TileVector = hn::Vec<hn::CappedTag<float, tile_lanes>>;

// Where a tile goes: `out` has whole vectors; edges go through a buffer (see multiply_edge in gemm_simd.cc).
struct TileTarget {
  float* out;
  std::int64_t stride;
  const float* bias;  // a vector or two of it, or null
  bool accumulate;
};

HWY_INLINE void store_vector(const TileTarget& target, std::size_t row, int column, TileVector sum) {
  const hn::CappedTag<float, tile_lanes> d;
  float* out = target.out + static_cast<std::int64_t>(row) * target.stride + column;
  if (target.accumulate) sum = hn::Add(hn::LoadU(d, out), sum);
  if (target.bias != nullptr) sum = hn::Add(hn::LoadU(d, target.bias + column), sum);
  hn::StoreU(sum, d, out);
}

#if HWY_TARGET == HWY_NEON
static_assert(tile_rows == neon_tile_rows && tile_columns == neon_tile_columns);
#else
// sums[i][j] = sum_k left[k][i] right[k][j] for the rows `row...` of the left panel and `vectors` of the right one, to
// sums that are zero. Rows are a pack, so that each sum is a variable of its own and lives in a register.
template <int vectors, std::size_t... row>
HWY_INLINE void sum_tile(const float* HWY_RESTRICT left, const float* HWY_RESTRICT right, std::int64_t depth,
                         TileVector (&sums0)[sizeof...(row)], TileVector (&sums1)[sizeof...(row)],
                         std::index_sequence<row...>) {
  const hn::CappedTag<float, tile_lanes> d;
  for (std::int64_t k = 0; k < depth; ++k) {
    const TileVector right0 = hn::Load(d, right);
    const TileVector right1 = hn::Load(d, right + (vectors - 1) * tile_lanes);
    TileVector one;
    if constexpr (vectors == 2) {
      ((one = hn::Set(d, left[row]), sums0[row] = hn::MulAdd(one, right0, sums0[row]),
        sums1[row] = hn::MulAdd(one, right1, sums1[row])),
       ...);
    } else {
      ((sums0[row] = hn::MulAdd(hn::Set(d, left[row]), right0, sums0[row])), ...);
    }
    left += tile_rows;
    right += tile_columns;
  }
}
#endif

// out[i][j] (+)= sums[i][j]
template <int vectors, std::size_t... row>
HWY_INLINE void multiply_tile(const float* left, const float* right, std::int64_t depth, const TileTarget& target,
                              std::index_sequence<row...> rows) {
  const hn::CappedTag<float, tile_lanes> d;
  ((hwy::Prefetch(target.out + static_cast<std::int64_t>(row) * target.stride)), ...);
  TileVector sums0[] = {(static_cast<void>(row), hn::Zero(d))...};
  TileVector sums1[] = {(static_cast<void>(row), hn::Zero(d))...};
  sum_tile<vectors>(left, right, depth, sums0, sums1, rows);
  (store_vector(target, row, 0, sums0[row]), ...);
  if constexpr (vectors == 2) (store_vector(target, row, tile_lanes, sums1[row]), ...);
}

// A panel's last rows: thirds of a tile, so that one row more than a whole tile costs a third of one.
template <int vectors>
HWY_INLINE void multiply_rows(const float* left, const float* right, std::int64_t depth, std::int64_t rows,
                              const TileTarget& target) {
  if (rows > 2 * tile_rows / 3) {
    multiply_tile<vectors>(left, right, depth, target, std::make_index_sequence<tile_rows>());
  } else if (rows > tile_rows / 3) {
    multiply_tile<vectors>(left, right, depth, target, std::make_index_sequence<2 * tile_rows / 3>());
  } else {
    multiply_tile<vectors>(left, right, depth, target, std::make_index_sequence<tile_rows / 3>());
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
