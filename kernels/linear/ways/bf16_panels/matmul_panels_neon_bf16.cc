// bf16 panels multiplied by BFMMLA: two rows of x by two rows of weights, four numbers each, into four lanes
//
//   x0 w0   x0 w1   x1 w0   x1 w1
//
// A tile is eight rows of x by twelve of weights: its 24 sums, four registers of x and one or two of weights fit 32.
// BFMMLA takes 5 cycles and four start each cycle, so 20 sums are the least; ten loads feed 24 products, of which three
// start each cycle: loads take 3.3 cycles of the products' six.
#include "kernels/linear/ways/bf16_panels/bf16_panels.h"

#include <arm_neon.h>

#include <array>
#include <cstring>

#include "hwy/base.h"
#include "kernels/contract/context.h"
#include "kernels/linear/ways/floats/gemm.h"

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+bf16")

namespace ingot {
namespace {

#include "kernels/linear/ways/bf16_panels/bf16_panels-inl.h"

struct PairProduct {
  using X = PanelShape<8, 4>;
  using Weights = PanelShape<12, 4>;
  static constexpr std::int64_t least_rows = dot_rows + 1;
  // Panels of weights (384 KiB) and sums (432 KiB) stay in a second-level cache of 1 MiB, a panel of x (16 KiB) in a
  // first-level cache of 64 KiB.
  static constexpr int depth_block = 1024, columns_at_once = 192, rows_at_once = 576;
  static constexpr int x_pairs = X::rows / 2;

  static void round(const float* x, std::int64_t count, std::uint16_t* to) {
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      vst1_u16(to + i, vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(x + i))));
    }
    for (; i < count; ++i) to[i] = BFloat16(x[i]).bits;
  }

  // Two steps of two rows at a time.
  template <class Shape>
  static void lay_out(const PanelRows<Shape>& rows, std::int64_t steps, std::uint16_t* to) {
    for (std::int64_t step = 0; step < steps; step += 2, to += 8 * Shape::rows) {
      for (int row = 0; row < Shape::rows; row += 2) {
        const uint64x2_t first = vreinterpretq_u64_u16(vld1q_u16(rows[row] + 4 * step));
        const uint64x2_t second = vreinterpretq_u64_u16(vld1q_u16(rows[row + 1] + 4 * step));
        vst1q_u16(to + 4 * row, vreinterpretq_u16_u64(vzip1q_u64(first, second)));
        vst1q_u16(to + 4 * (Shape::rows + row), vreinterpretq_u16_u64(vzip2q_u64(first, second)));
      }
    }
  }

  // In assembly: GCC 12 runs out of registers and moves sums about, which costs a quarter of the speed.
  static void add(const std::uint16_t* x, const std::uint16_t* weights, std::int64_t depth, float* sums,
                  const std::uint16_t* ahead) {
    const std::int64_t lines = lines_ahead<PairProduct>(depth);
    for (std::int64_t line = 0; line < lines; ++line) __builtin_prefetch(ahead + 32 * line, 0, 3);
    std::int64_t rounds = depth / 8;
    // clang-format off
#define INGOT_FOUR(weight, a, b, c, d)               \
  "bfmmla v" #a ".4s, v0.8h, v" #weight ".8h\n"      \
  "bfmmla v" #b ".4s, v1.8h, v" #weight ".8h\n"      \
  "bfmmla v" #c ".4s, v2.8h, v" #weight ".8h\n"      \
  "bfmmla v" #d ".4s, v3.8h, v" #weight ".8h\n"
#define INGOT_STEP(x_at, x_next, at, next, last)     \
  "ldp q0, q1, [%[x], #" #x_at "]\n"                 \
  "ldp q2, q3, [%[x], #" #x_next "]\n"               \
  "ldp q4, q5, [%[weights], #" #at "]\n"             \
  INGOT_FOUR(4, 8, 9, 10, 11)                        \
  INGOT_FOUR(5, 12, 13, 14, 15)                      \
  "ldp q6, q7, [%[weights], #" #next "]\n"           \
  INGOT_FOUR(6, 16, 17, 18, 19)                      \
  INGOT_FOUR(7, 20, 21, 22, 23)                      \
  "ldp q4, q5, [%[weights], #" #last "]\n"           \
  INGOT_FOUR(4, 24, 25, 26, 27)                      \
  INGOT_FOUR(5, 28, 29, 30, 31)
#define INGOT_SUMS(instruction)                      \
  instruction " q8, q9, [%[sums]]\n"                 \
  instruction " q10, q11, [%[sums], #32]\n"          \
  instruction " q12, q13, [%[sums], #64]\n"          \
  instruction " q14, q15, [%[sums], #96]\n"          \
  instruction " q16, q17, [%[sums], #128]\n"         \
  instruction " q18, q19, [%[sums], #160]\n"         \
  instruction " q20, q21, [%[sums], #192]\n"         \
  instruction " q22, q23, [%[sums], #224]\n"         \
  instruction " q24, q25, [%[sums], #256]\n"         \
  instruction " q26, q27, [%[sums], #288]\n"         \
  instruction " q28, q29, [%[sums], #320]\n"         \
  instruction " q30, q31, [%[sums], #352]\n"
    asm volatile(
        INGOT_SUMS("ldp")
        "1:\n"
        INGOT_STEP(0, 32, 0, 32, 64)
        INGOT_STEP(64, 96, 96, 128, 160)
        "add %[x], %[x], #128\n"
        "add %[weights], %[weights], #192\n"
        "subs %[rounds], %[rounds], #1\n"
        "b.ne 1b\n"
        INGOT_SUMS("stp")
        : [x] "+r"(x), [weights] "+r"(weights), [rounds] "+r"(rounds)
        : [sums] "r"(sums)
        : "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
          "v29", "v30", "v31");
#undef INGOT_FOUR
#undef INGOT_STEP
#undef INGOT_SUMS
    // clang-format on
  }

  static void store(const float* sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
                    std::int64_t stride) {
    if (rows == X::rows && columns == Weights::rows) return store_whole(sums, bias, to, stride);
    for (std::int64_t row = 0; row < rows; ++row, to += stride) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const float sum = sums[4 * (j / 2 * x_pairs + row / 2) + row % 2 * 2 + j % 2];
        to[j] = bias == nullptr ? sum : sum + bias[j];
      }
    }
  }

 private:
  static void store_whole(const float* sums, const float* bias, float* to, std::int64_t stride) {
    for (int j = 0; j < Weights::rows; j += 4, sums += 8 * x_pairs) {
      const float32x4_t added = bias == nullptr ? vdupq_n_f32(0) : vld1q_f32(bias + j);
      for (int i = 0; i < x_pairs; ++i) {
        const float64x2_t first = vreinterpretq_f64_f32(vld1q_f32(sums + 4 * i));
        const float64x2_t second = vreinterpretq_f64_f32(vld1q_f32(sums + 4 * (x_pairs + i)));
        float* row = to + 2 * i * stride + j;
        vst1q_f32(row, vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(first, second)), added));
        vst1q_f32(row + stride, vaddq_f32(vreinterpretq_f32_f64(vzip2q_f64(first, second)), added));
      }
    }
  }
};

}  // namespace

const Bf16Product* const bf16_panels_neon = &bf16_product<PairProduct>;

}  // namespace ingot

HWY_POP_ATTRIBUTES
