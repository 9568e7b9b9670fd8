// The register tile's sums by AVX-512 and AVX2: every step of the depth loads three vectors of the right panel and
// multiplies them by a number of each row of the left operand.
//
// Undisturbed, any order of these instructions runs at the rate of its multiply-adds. On a machine whose cores seem to
// be shared the number of instructions counted: so steps go by eights, and some operands are read from memory by the
// multiply-add itself, within two loads a cycle. AVX-512 multiplies by a broadcast number for every other row (31
// instructions a step instead of 35), AVX2 by the third vector of the right panel (18 instead of 19). Compilers that
// are asked for this spill sums; hence the assembly. Included by gemm_tile-inl.h, once per target.
#if defined(INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_AVX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_AVX_INL_H_
#undef INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_AVX_INL_H_
#else
#define INGOT_KERNELS_LINEAR_WAYS_FLOATS_GEMM_TILE_AVX_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/linear/ways/floats/gemm_left-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// clang-format off
#define INGOT_TILE_EIGHT(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)
#if HWY_TARGET == HWY_AVX2
using AvxVector = hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::CappedTag<float, 8>>;
// %0 to %11 are the sums, three a row; %12 walks the first two rows, %%rax the others; %13 walks the right panel.
#define INGOT_TILE_ROW(row, step, sum0, sum1, sum2) \
  "vbroadcastss 4*" #step "(" row "), %%ymm14\n" \
  "vfmadd231ps %%ymm12, %%ymm14, %" #sum0 "\n" \
  "vfmadd231ps %%ymm13, %%ymm14, %" #sum1 "\n" \
  "vfmadd231ps 96*" #step "+64(%13), %%ymm14, %" #sum2 "\n"
#define INGOT_TILE_STEP(step) \
  "vmovaps 96*" #step "(%13), %%ymm12\n" \
  "vmovaps 96*" #step "+32(%13), %%ymm13\n" \
  INGOT_TILE_ROW("%12", step, 0, 1, 2) \
  INGOT_TILE_ROW("%12, %15", step, 3, 4, 5) \
  INGOT_TILE_ROW("%%rax", step, 6, 7, 8) \
  INGOT_TILE_ROW("%%rax, %15", step, 9, 10, 11)
#define INGOT_TILE_CLEAR(a, b, c) \
  "vxorps %" #a ", %" #a ", %" #a "\n vxorps %" #b ", %" #b ", %" #b "\n vxorps %" #c ", %" #c ", %" #c "\n"

// A whole tile, to sums that it clears: how many steps it summed, a multiple of eight.
HWY_INLINE std::int64_t sum_whole_tile(TileLeft left, const float* right, std::int64_t depth,
                                       AvxVector (&sums)[3][4]) {
  const std::int64_t steps = depth / 8 * 8;
  const float* end = left.rows + steps;
  asm volatile(
      INGOT_TILE_CLEAR(0, 1, 2)
      INGOT_TILE_CLEAR(3, 4, 5)
      INGOT_TILE_CLEAR(6, 7, 8)
      INGOT_TILE_CLEAR(9, 10, 11)
      "leaq (%12, %15, 2), %%rax\n"
      "cmpq %14, %12\n"
      "je 2f\n"
      ".p2align 6\n"
      "1:\n"
      INGOT_TILE_EIGHT(INGOT_TILE_STEP)
      "addq $8*4, %12\n"
      "addq $8*4, %%rax\n"
      "addq $8*96, %13\n"
      "cmpq %14, %12\n"
      "jne 1b\n"
      "2:\n"
      : "=&x"(sums[0][0].raw), "=&x"(sums[1][0].raw), "=&x"(sums[2][0].raw),
        "=&x"(sums[0][1].raw), "=&x"(sums[1][1].raw), "=&x"(sums[2][1].raw),
        "=&x"(sums[0][2].raw), "=&x"(sums[1][2].raw), "=&x"(sums[2][2].raw),
        "=&x"(sums[0][3].raw), "=&x"(sums[1][3].raw), "=&x"(sums[2][3].raw),
        "+r"(left.rows), "+r"(right)
      : "r"(end), "r"(left.stride * sizeof(float))
      : "rax", "xmm12", "xmm13", "xmm14", "memory", "cc");
  return steps;
}
#else
using AvxVector = hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::CappedTag<float, 16>>;
// %0 to %23 are the sums, three a row; %24 walks the second row, %%rax the fourth, %%rcx the sixth, %%rdx the eighth,
// and the row before is a stride back: a multiply-add that reads memory by one register is one operation, by two it
// would be two. %25 walks the right panel.
#define INGOT_TILE_ROW(row, step, sum0, sum1, sum2) \
  "vbroadcastss 4*" #step "(" row ", %27), %%zmm27\n" \
  "vfmadd231ps %%zmm24, %%zmm27, %" #sum0 "\n" \
  "vfmadd231ps %%zmm25, %%zmm27, %" #sum1 "\n" \
  "vfmadd231ps %%zmm26, %%zmm27, %" #sum2 "\n"
#define INGOT_TILE_ROW_FROM_MEMORY(row, step, sum0, sum1, sum2) \
  "vfmadd231ps 4*" #step "(" row ")%{1to16%}, %%zmm24, %" #sum0 "\n" \
  "vfmadd231ps 4*" #step "(" row ")%{1to16%}, %%zmm25, %" #sum1 "\n" \
  "vfmadd231ps 4*" #step "(" row ")%{1to16%}, %%zmm26, %" #sum2 "\n"
#define INGOT_TILE_STEP(step) \
  "vmovaps 192*" #step "(%25), %%zmm24\n" \
  "vmovaps 192*" #step "+64(%25), %%zmm25\n" \
  "vmovaps 192*" #step "+128(%25), %%zmm26\n" \
  INGOT_TILE_ROW("%24", step, 0, 1, 2) \
  INGOT_TILE_ROW_FROM_MEMORY("%24", step, 3, 4, 5) \
  INGOT_TILE_ROW("%%rax", step, 6, 7, 8) \
  INGOT_TILE_ROW_FROM_MEMORY("%%rax", step, 9, 10, 11) \
  INGOT_TILE_ROW("%%rcx", step, 12, 13, 14) \
  INGOT_TILE_ROW_FROM_MEMORY("%%rcx", step, 15, 16, 17) \
  INGOT_TILE_ROW("%%rdx", step, 18, 19, 20) \
  INGOT_TILE_ROW_FROM_MEMORY("%%rdx", step, 21, 22, 23)
#define INGOT_TILE_CLEAR(a, b, c) \
  "vpxord %" #a ", %" #a ", %" #a "\n vpxord %" #b ", %" #b ", %" #b "\n vpxord %" #c ", %" #c ", %" #c "\n"
#define INGOT_TILE_SUMS(row) "=&v"(sums[0][row].raw), "=&v"(sums[1][row].raw), "=&v"(sums[2][row].raw)

// A whole tile, to sums that it clears: how many steps it summed, a multiple of eight.
HWY_INLINE std::int64_t sum_whole_tile(TileLeft left, const float* right, std::int64_t depth,
                                       AvxVector (&sums)[3][8]) {
  const std::int64_t steps = depth / 8 * 8;
  left.rows += left.stride;
  const float* end = left.rows + steps;
  asm volatile(
      INGOT_TILE_CLEAR(0, 1, 2)
      INGOT_TILE_CLEAR(3, 4, 5)
      INGOT_TILE_CLEAR(6, 7, 8)
      INGOT_TILE_CLEAR(9, 10, 11)
      INGOT_TILE_CLEAR(12, 13, 14)
      INGOT_TILE_CLEAR(15, 16, 17)
      INGOT_TILE_CLEAR(18, 19, 20)
      INGOT_TILE_CLEAR(21, 22, 23)
      "movq %24, %%rax\n subq %27, %%rax\n subq %27, %%rax\n"
      "movq %%rax, %%rcx\n subq %27, %%rcx\n subq %27, %%rcx\n"
      "movq %%rcx, %%rdx\n subq %27, %%rdx\n subq %27, %%rdx\n"
      "cmpq %26, %24\n"
      "je 2f\n"
      ".p2align 6\n"
      "1:\n"
      INGOT_TILE_EIGHT(INGOT_TILE_STEP)
      "addq $8*4, %24\n"
      "addq $8*4, %%rax\n"
      "addq $8*4, %%rcx\n"
      "addq $8*4, %%rdx\n"
      "addq $8*192, %25\n"
      "cmpq %26, %24\n"
      "jne 1b\n"
      "2:\n"
      : INGOT_TILE_SUMS(0), INGOT_TILE_SUMS(1), INGOT_TILE_SUMS(2), INGOT_TILE_SUMS(3), INGOT_TILE_SUMS(4),
        INGOT_TILE_SUMS(5), INGOT_TILE_SUMS(6), INGOT_TILE_SUMS(7), "+r"(left.rows), "+r"(right)
      : "r"(end), "r"(left.stride * -static_cast<std::int64_t>(sizeof(float)))
      : "rax", "rcx", "rdx", "xmm24", "xmm25", "xmm26", "xmm27", "memory", "cc");
  return steps;
}
#undef INGOT_TILE_ROW_FROM_MEMORY
#undef INGOT_TILE_SUMS
#endif
// clang-format on
#undef INGOT_TILE_EIGHT
#undef INGOT_TILE_ROW
#undef INGOT_TILE_STEP
#undef INGOT_TILE_CLEAR

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
