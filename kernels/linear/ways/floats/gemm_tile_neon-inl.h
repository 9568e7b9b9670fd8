// The register tile's sums by NEON, which multiplies by one lane of a vector: twelve rows of the left panel are three
// loads instead of twelve broadcasts, each of which would take a vector pipe from a multiply-add. 24 of those keep
// four pipes of latency 4 busy with sums to spare.
//
// The whole tile is written out in assembly, because compilers that see loads one step ahead of their use spill sums,
// and without them the pipes wait: 73 GFLOP/s at most where this makes 80 of 83 (Neoverse-V1). Its last step reads one
// step past the panels: 48 bytes at most, which both have to spare.
// Included by gemm_tile-inl.h, once per target.
#if defined(INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_NEON_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_NEON_INL_H_
#undef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_NEON_INL_H_
#else
#define INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_NEON_INL_H_
#endif

#include <arm_neon.h>

#include "hwy/highway.h"
#include "kernels/linear/ways/floats/gemm_left-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

inline constexpr int neon_tile_vectors = 2;
inline constexpr int neon_tile_columns = 8;
using NeonVector = hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::CappedTag<float, 4>>;

// Functions, because compilers have intrinsics that are macros, in which a pack is not expanded.
HWY_INLINE float32x4_t load_four(const float* from) { return vld1q_f32(from); }
template <int lane>
HWY_INLINE void add_lane(NeonVector& sum, float32x4_t right, float32x4_t left) {
  sum.raw = vfmaq_laneq_f32(sum.raw, right, left, lane);
}

// Steps [0, depth) of a part of a tile, added to sums.
template <int vectors, std::size_t... row>
HWY_INLINE void add_steps(TileLeft left_panel, const float* HWY_RESTRICT right, std::int64_t depth,
                          NeonVector (&sums)[vectors][sizeof...(row)], std::index_sequence<row...>) {
  const float* HWY_RESTRICT left = left_panel.panels;
  for (std::int64_t k = 0; k < depth; ++k) {
    const float32x4_t right0 = load_four(right);
    (add_lane<row % 4>(sums[0][row], right0, load_four(left + row / 4 * 4)), ...);
    if constexpr (vectors == 2) {
      const float32x4_t right1 = load_four(right + 4);
      (add_lane<row % 4>(sums[1][row], right1, load_four(left + row / 4 * 4)), ...);
    }
    left += tile_rows;
    right += neon_tile_columns;
  }
}

// v0 and v1 hold this step's right vectors and v5 and v6 the next one's, or the other way round; v2 to v4 the left
// ones. Operands %0 to %23 are the sums, two a row; %24 and %25 walk the left and the right panel.
// clang-format off
#define INGOT_TILE_ROW(sum0, sum1, left, lane, right0, right1) \
  "fmla %" #sum0 ".4s, v" right0 ".4s, v" left ".s[" #lane "]\n" \
  "fmla %" #sum1 ".4s, v" right1 ".4s, v" left ".s[" #lane "]\n"
#define INGOT_TILE_STEP(right0, right1, next0, next1, next_right, next_left0, next_left1, next_left2) \
  "ldp q" next0 ", q" next1 ", [%25, #" next_right "]\n" \
  INGOT_TILE_ROW(0, 1, "2", 0, right0, right1) \
  INGOT_TILE_ROW(2, 3, "2", 1, right0, right1) \
  INGOT_TILE_ROW(4, 5, "2", 2, right0, right1) \
  INGOT_TILE_ROW(6, 7, "2", 3, right0, right1) \
  "ldr q2, [%24, #" next_left0 "]\n" \
  INGOT_TILE_ROW(8, 9, "3", 0, right0, right1) \
  INGOT_TILE_ROW(10, 11, "3", 1, right0, right1) \
  INGOT_TILE_ROW(12, 13, "3", 2, right0, right1) \
  INGOT_TILE_ROW(14, 15, "3", 3, right0, right1) \
  "ldr q3, [%24, #" next_left1 "]\n" \
  INGOT_TILE_ROW(16, 17, "4", 0, right0, right1) \
  INGOT_TILE_ROW(18, 19, "4", 1, right0, right1) \
  INGOT_TILE_ROW(20, 21, "4", 2, right0, right1) \
  INGOT_TILE_ROW(22, 23, "4", 3, right0, right1) \
  "ldr q4, [%24, #" next_left2 "]\n"
#define INGOT_TILE_CLEAR(a, b, c, d) \
  "movi %" #a ".4s, #0\n movi %" #b ".4s, #0\n movi %" #c ".4s, #0\n movi %" #d ".4s, #0\n"
#define INGOT_TILE_SUMS(row) "=&w"(sums[0][row].raw), "=&w"(sums[1][row].raw)
// clang-format on

// A whole tile, to sums that it clears: the even number of steps that it summed, because they go by pairs, so that no
// register is copied.
HWY_INLINE std::int64_t sum_whole_tile(TileLeft left, const float* right, std::int64_t depth,
                                       NeonVector (&sums)[2][12]) {
  std::int64_t pairs = depth / 2;
  // clang-format off
  asm volatile(
      INGOT_TILE_CLEAR(0, 1, 2, 3)
      INGOT_TILE_CLEAR(4, 5, 6, 7)
      INGOT_TILE_CLEAR(8, 9, 10, 11)
      INGOT_TILE_CLEAR(12, 13, 14, 15)
      INGOT_TILE_CLEAR(16, 17, 18, 19)
      INGOT_TILE_CLEAR(20, 21, 22, 23)
      "cbz %26, 2f\n"
      "ldp q0, q1, [%25]\n"
      "ldp q2, q3, [%24]\n"
      "ldr q4, [%24, #32]\n"
      ".p2align 5\n"
      "1:\n"
      "prfm pldl1keep, [%25, #512]\n"
      INGOT_TILE_STEP("0", "1", "5", "6", "32", "48", "64", "80")
      INGOT_TILE_STEP("5", "6", "0", "1", "64", "96", "112", "128")
      "add %24, %24, #96\n"
      "add %25, %25, #64\n"
      "subs %26, %26, #1\n"
      "b.ne 1b\n"
      "2:\n"
      : INGOT_TILE_SUMS(0), INGOT_TILE_SUMS(1), INGOT_TILE_SUMS(2), INGOT_TILE_SUMS(3), INGOT_TILE_SUMS(4),
        INGOT_TILE_SUMS(5), INGOT_TILE_SUMS(6), INGOT_TILE_SUMS(7), INGOT_TILE_SUMS(8), INGOT_TILE_SUMS(9),
        INGOT_TILE_SUMS(10), INGOT_TILE_SUMS(11), "+r"(left.panels), "+r"(right), "+r"(pairs)
      :
      : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "memory", "cc");
  // clang-format on
  return depth / 2 * 2;
}

#undef INGOT_TILE_ROW
#undef INGOT_TILE_STEP
#undef INGOT_TILE_CLEAR
#undef INGOT_TILE_SUMS

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
