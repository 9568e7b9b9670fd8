// The register tile: the innermost product, one per target. Included inside gemm_simd.cc after hwy/highway.h.
//
// A fused multiply-add takes 4 cycles and two start each cycle (four on a Neoverse-V1), so at least 8 independent sums
// are needed; more of them mean fewer loads a product. The tile is as large as registers allow: with 32 of them 24
// sums, with 16 twelve, beside vectors of the right operand and broadcasts of the left one. Its shape is the one that
// loads least: 3 vectors by 8 rows (AVX-512) or 4 (AVX2), 11 loads for 24 products and 7 for 12, where 2 vectors by 12
// or 6 rows would take 14 and 8. NEON multiplies by a lane of a loaded vector, 2 by 12. SSE4 cannot fuse and keeps a
// product before it adds: 2 by 6.
#if defined(INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_INL_H_
#undef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_INL_H_
#else
#define INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_INL_H_
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/linear/ways/floats/gemm_left-inl.h"
#if HWY_TARGET == HWY_NEON
#include "kernels/linear/ways/floats/gemm_tile_neon-inl.h"
#elif HWY_TARGET != HWY_SSE4
#include "kernels/linear/ways/floats/gemm_tile_avx-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_SSE4
inline constexpr int tile_vectors = 2;
#else
inline constexpr int tile_vectors = 3;
#endif
// Every target here has vectors of a fixed size.
inline constexpr int tile_lanes = HWY_MAX_BYTES / sizeof(float);
inline constexpr int tile_columns = tile_vectors * tile_lanes;
using TileVector = hn::Vec<hn::CappedTag<float, tile_lanes>>;

// Where a tile goes: `out` has whole vectors; edges go through a buffer (see multiply_edge in gemm_simd.cc).
struct TileTarget {
  float* out;
  std::int64_t stride;
  const float* bias;  // as many vectors of it as the tile is wide, or null
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
static_assert(tile_columns == neon_tile_columns && tile_vectors == neon_tile_vectors);
#else
template <int vectors, std::size_t rows>
HWY_INLINE void add_row(TileVector one, const TileVector (&right)[vectors], TileVector (&sums)[vectors][rows],
                        std::size_t row) {
  sums[0][row] = hn::MulAdd(one, right[0], sums[0][row]);
  if constexpr (vectors > 1) sums[1][row] = hn::MulAdd(one, right[1], sums[1][row]);
  if constexpr (vectors > 2) sums[2][row] = hn::MulAdd(one, right[2], sums[2][row]);
}

// Steps [0, depth): sums[j][i] += left[i] right[j] for the rows `row...` of the left operand and `vectors` of the right
// panel. Rows are a pack, so that each sum is a variable of its own and lives in a register.
template <int vectors, std::size_t... row>
HWY_INLINE void add_steps(TileLeft left, const float* HWY_RESTRICT right, std::int64_t depth,
                          TileVector (&sums)[vectors][sizeof...(row)], std::index_sequence<row...>) {
  const hn::CappedTag<float, tile_lanes> d;
  const float* rows[] = {left.rows + static_cast<std::int64_t>(row) * left.stride...};
  for (std::int64_t k = 0; k < depth; ++k) {
    TileVector rights[vectors];
    rights[0] = hn::Load(d, right);
    if constexpr (vectors > 1) rights[1] = hn::Load(d, right + tile_lanes);
    if constexpr (vectors > 2) rights[2] = hn::Load(d, right + 2 * tile_lanes);
    (add_row(hn::Set(d, rows[row][k]), rights, sums, row), ...);
    right += tile_columns;
  }
}
#endif

// sums[j][i] = sum_k left[i][k] right[k][j]
template <int vectors, std::size_t... row>
HWY_INLINE void sum_tile(TileLeft left, const float* right, std::int64_t depth,
                         TileVector (&sums)[vectors][sizeof...(row)], std::index_sequence<row...> rows) {
  std::int64_t done = 0;
#if HWY_TARGET != HWY_SSE4
  if constexpr (vectors == tile_vectors && sizeof...(row) == tile_rows) {
    done = sum_whole_tile(left, right, depth, sums);
  } else
#endif
  {
    const hn::CappedTag<float, tile_lanes> d;
    for (auto& column : sums) ((column[row] = hn::Zero(d)), ...);
  }
  add_steps<vectors>(skip_steps(left, done), right + done * tile_columns, depth - done, sums, rows);
}

// out[i][j] (+)= sums[i][j]
template <int vectors, std::size_t... row>
HWY_INLINE void multiply_tile(TileLeft left, const float* right, std::int64_t depth, const TileTarget& target,
                              std::index_sequence<row...> rows) {
  constexpr int line = 64 / sizeof(float);
  for (int column = 0; column < vectors * tile_lanes; column += line) {
    ((hwy::Prefetch(target.out + static_cast<std::int64_t>(row) * target.stride + column)), ...);
  }
  TileVector sums[vectors][sizeof...(row)];
  sum_tile<vectors>(left, right, depth, sums, rows);
  (store_vector(target, row, 0, sums[0][row]), ...);
  if constexpr (vectors > 1) (store_vector(target, row, tile_lanes, sums[1][row]), ...);
  if constexpr (vectors > 2) (store_vector(target, row, 2 * tile_lanes, sums[2][row]), ...);
}

// The last rows: parts of a tile, so that one row more than a whole tile costs a part of one.
template <int vectors, int height = tile_rows>
HWY_INLINE void multiply_rows(TileLeft left, const float* right, std::int64_t depth, std::int64_t rows,
                              const TileTarget& target) {
  if constexpr (height > tile_part) {
    if (rows <= height - tile_part) return multiply_rows<vectors, height - tile_part>(left, right, depth, rows, target);
  }
  multiply_tile<vectors>(left, right, depth, target, std::make_index_sequence<height>());
}

// The same for as few vectors as hold the columns.
template <int vectors = tile_vectors>
HWY_INLINE void multiply_part(TileLeft left, const float* right, std::int64_t depth, std::int64_t rows,
                              std::int64_t columns, const TileTarget& target) {
  if constexpr (vectors > 1) {
    if (columns <= (vectors - 1) * tile_lanes) {
      return multiply_part<vectors - 1>(left, right, depth, rows, columns, target);
    }
  }
  multiply_rows<vectors>(left, right, depth, rows, target);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
