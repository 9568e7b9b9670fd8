// Two braids of interleaved Q5_0 weights times one row of x, as one block of assembly: part of
// matmul_interleaved_neon_dotprod.cc. Why assembly, how a step hands what it has not finished to the next, and how
// integers become floats: q4_0_braids_neon-inl.h. How the memory is asked: q6_k_braids_neon-inl.h.
//
// A block of a braid takes 52 vector instructions: 28 make the codes of eight quads from five (pack_fives), 16
// multiply, 8 are of floats. A step is a block of four rows; four of them, both halves of the first braid and of the
// second, are a pass. A step multiplies what the step before split, splits its own bytes, loads those
// of the next, converts and scales what the step before the last summed, and adds what the one before that scaled. Its
// order is the best of three thousand: 3.25 vector instructions start in a cycle, 2.9 in an order of one kind after
// another.
//
//   v0-3   totals, two registers a braid    v8-15, v16-23  bytes, then codes,    v28-29  scales of both braids' rows
//   v4     31 in each byte                                 of two steps          v30     scales of four rows
//   v5     1.5 * 2^23                       v24-25  integers of two steps        v31     scale of x
//   v6-7   x                                v26-27  the same as floats

struct Q5_0LaneBlock {
  std::int8_t codes[32];
  std::int32_t starts[4];  // of the integers, like Q4_0LaneBlock's: codes from 0 stand for -16
  float scales[4];

  static HWY_INLINE void place(const std::int8_t* codes, float scale, const std::int32_t* sums, Q5_0LaneBlock& to) {
    std::memcpy(to.codes, codes, sizeof(to.codes));
    vst1q_s32(to.starts, vdupq_n_s32(float_of_zero - 16 * (sums[0] + sums[1])));
    vst1q_f32(to.scales, vdupq_n_f32(scale));
  }
};

// clang-format off
#define INGOT_LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define INGOT_DOT(to, codes, of_x, lane) "sdot v" #to ".4s, v" #codes ".16b, v" #of_x ".4b[" #lane "]\n"
#define INGOT_SHIFTED(with, to, from, bits) #with " v" #to ".16b, v" #from ".16b, #" #bits "\n"
#define INGOT_MASKED(codes) "and v" #codes ".16b, v" #codes ".16b, v4.16b\n"
#define INGOT_FLOATS(with, to, left, right) #with " v" #to ".4s, v" #left ".4s, v" #right ".4s\n"
#define INGOT_WIDEN(with, halves, lanes) #with " v30.4s, v" #halves "." #lanes "\n"
#define INGOT_PREFETCH(level, braid, at) "prfm pld" #level "keep, [%[w" #braid "], #" #at "]\n"
// Codes a0 to a7 of this step, b0 to b7 of the step before, whose first five registers take the bytes of the next. Before
// they hold codes, a5 and a7 bring the two bits of code 6 together that lie above codes 1 and 3.
#define INGOT_STEP(a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, sum, was_sum, float, was_float, \
                   widen, halves, lanes, total, next, at, prefetches, advance, more) \
  INGOT_DOT(was_sum, b2, 6, 2) INGOT_DOT(was_sum, b4, 7, 0) INGOT_SHIFTED(ushr, a6, a2, 3) prefetches \
  INGOT_DOT(was_sum, b3, 6, 3) INGOT_DOT(was_sum, b1, 6, 1) INGOT_SHIFTED(shl, a7, a3, 2) \
  INGOT_WIDEN(widen, halves, lanes) INGOT_SHIFTED(shl, a5, a1, 2) INGOT_MASKED(a2) INGOT_DOT(was_sum, b0, 6, 0) \
  advance INGOT_LOAD(b3, next, at + 96) INGOT_LOAD(b2, next, at + 64) INGOT_DOT(was_sum, b7, 7, 3) \
  INGOT_FLOATS(fmul, was_float, was_float, 30) INGOT_LOAD(b1, next, at + 32) INGOT_SHIFTED(sri, a5, a7, 1) \
  INGOT_LOAD(b0, next, at) INGOT_SHIFTED(ushr, a7, a3, 3) INGOT_MASKED(a3) INGOT_DOT(was_sum, b5, 7, 1) \
  INGOT_SHIFTED(sri, a6, a5, 6) INGOT_FLOATS(fsub, float, sum, 5) INGOT_SHIFTED(ushr, a5, a1, 3) \
  INGOT_SHIFTED(sri, a7, a4, 5) INGOT_MASKED(a4) INGOT_MASKED(a1) INGOT_FLOATS(fmla, total, was_float, 31) \
  INGOT_DOT(was_sum, b6, 7, 2) INGOT_SHIFTED(sri, a5, a0, 5) INGOT_LOAD(sum, x, 32) INGOT_LOAD(b4, next, at + 128) \
  more INGOT_MASKED(a0)
// Rows 0 to 3, then rows 4 to 7.
#define INGOT_LOW(...) \
  INGOT_STEP(8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, __VA_ARGS__)
#define INGOT_HIGH(...) \
  INGOT_STEP(16, 17, 18, 19, 20, 21, 22, 23, 8, 9, 10, 11, 12, 13, 14, 15, 25, 24, 27, 26, __VA_ARGS__)
// On to the next block, where there is one: x is needed once more before it goes.
#define INGOT_ADVANCE \
  "sub %[left], %[left], #1\n" "mov %[a], #176\n" "mov %[b], #64\n" "cmp %[left], #0\n" \
  "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n"

// totals: of the first braid's rows 0 to 3 and 4 to 7, and of the second's. Precondition: blocks > 0.
HWY_INLINE void multiply_two_braids(const InterleavedBlocks<BlockQ5_0>* w0, const InterleavedBlocks<BlockQ5_0>* w1,
                                    std::int64_t blocks, const Q5_0LaneBlock* x, float32x4_t (&totals)[2][2]) {
  using Weights = InterleavedBlocks<BlockQ5_0>;
  static_assert(sizeof(Weights) == 176 && offsetof(Weights, codes) == 16 && sizeof(Q5_0LaneBlock) == 64 &&
                offsetof(Q5_0LaneBlock, starts) == 32 && offsetof(Q5_0LaneBlock, scales) == 48);
  std::int64_t left = blocks;
  std::uint64_t a, b;
  __asm__ volatile(
        // Numbers and scales of zero: what the first pass finds unfinished is nothing.
        ".irp register, 0,1,2,3,6,7,24,25,26,27,28,29,31\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v4.16b, #31\n"
        "dup v5.4s, %w[zero]\n"
        INGOT_LOAD(8, w0, 16) INGOT_LOAD(9, w0, 48) INGOT_LOAD(10, w0, 80) INGOT_LOAD(11, w0, 112)
        INGOT_LOAD(12, w0, 144)
        "1:\n"
        INGOT_LOW(fcvtl2, 28, 8h, 1, w0, 32, INGOT_PREFETCH(l3, 0, 8192) INGOT_PREFETCH(l3, 0, 8320)
                      INGOT_PREFETCH(l1, 0, 832), , INGOT_LOAD(6, x, 0) INGOT_LOAD(7, x, 16) INGOT_LOAD(28, w0, 0))
        INGOT_HIGH(fcvtl, 29, 4h, 2, w1, 16, INGOT_PREFETCH(l3, 1, 8192) INGOT_PREFETCH(l3, 1, 8320)
                       INGOT_PREFETCH(l1, 1, 832), , )
        INGOT_LOW(fcvtl2, 29, 8h, 3, w1, 32, INGOT_PREFETCH(l3, 0, 8256) INGOT_PREFETCH(l1, 0, 768), ,
                  INGOT_LOAD(29, w1, 0) INGOT_LOAD(31, x, 48))
        INGOT_HIGH(fcvtl, 28, 4h, 0, w0, 16, INGOT_PREFETCH(l3, 1, 8256) INGOT_PREFETCH(l1, 1, 768), INGOT_ADVANCE,
                   "add %[x], %[x], %[b]\n")
        "cbnz %[left], 1b\n"
        INGOT_DOT(25, 16, 6, 0) INGOT_DOT(25, 17, 6, 1) INGOT_DOT(25, 18, 6, 2) INGOT_DOT(25, 19, 6, 3)
        INGOT_DOT(25, 20, 7, 0) INGOT_DOT(25, 21, 7, 1) INGOT_DOT(25, 22, 7, 2) INGOT_DOT(25, 23, 7, 3)
        INGOT_WIDEN(fcvtl2, 28, 8h) INGOT_FLOATS(fmul, 27, 27, 30) INGOT_FLOATS(fmla, 1, 27, 31)
        INGOT_FLOATS(fsub, 26, 24, 5) INGOT_FLOATS(fsub, 27, 25, 5)
        INGOT_WIDEN(fcvtl, 29, 4h) INGOT_FLOATS(fmul, 26, 26, 30) INGOT_FLOATS(fmla, 2, 26, 31)
        INGOT_WIDEN(fcvtl2, 29, 8h) INGOT_FLOATS(fmul, 27, 27, 30) INGOT_FLOATS(fmla, 3, 27, 31)
        "stp q0, q1, [%[totals]]\n"
        "stp q2, q3, [%[totals], #32]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [x] "+r"(x), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b)
      : [totals] "r"(&totals), [zero] "r"(float_of_zero)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}
// clang-format on

#undef INGOT_LOAD
#undef INGOT_DOT
#undef INGOT_SHIFTED
#undef INGOT_MASKED
#undef INGOT_FLOATS
#undef INGOT_WIDEN
#undef INGOT_PREFETCH
#undef INGOT_STEP
#undef INGOT_LOW
#undef INGOT_HIGH
#undef INGOT_ADVANCE
