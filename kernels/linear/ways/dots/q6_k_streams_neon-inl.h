// Two rows of Q6_K weights times one row of x, as one block of assembly: part of gemm_codes_neon_dotprod.cc, before
// codes_256_neon-inl.h. Why assembly, and how a pass hands what it has not finished to the next:
// q4_0_streams_neon-inl.h.
//
// A pass is a block of each row in eight steps, of which step 2 j + r works on quarter j of row r: 32 bytes of low bits
// (16 and, 32 further on, 16) and 16 of high ones: groups g, g + 2, g + 4 and g + 6 with g = 8 (j / 2) + j % 2.
// It loads the bytes of the next step, splits its own, multiplies those that the step before split, and multiplies by
// integer scales what that one summed. Sums start from the corrections for codes that are 32 too large.
//
//   v0      sums: two lanes a row      v10-11  codes of g + 4 and g + 2   v26-29  integer scales of eight groups of row
//   v1-3    15, 48, 63 in each byte    v12-15  integers of four groups            0, then of row 1
//   v4-6, v7-9  bytes: low, low, high  v16-17  totals of the rows         v30     totals of both rows, joined
//           ones; then codes of g,     v18-21, v22-25  x for even and     v31     scale of x, then scales of the rows
//           none, of g + 6                     odd j

// clang-format off
#define INGOT_LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define INGOT_OF_X(a, b, c, d, at) \
  INGOT_LOAD(a, x, at) INGOT_LOAD(b, x, at + 32) INGOT_LOAD(c, x, at + 64) INGOT_LOAD(d, x, at + 96)
#define INGOT_SCALED(first, total, dot, scales, lane) \
  #first " v" #total ".4s, v" #dot ".4s, v" #scales ".s[" #lane "]\n"
#define INGOT_DOT(dot, codes, of_x) "sdot v" #dot ".4s, v" #codes ".16b, v" #of_x ".16b\n"
#define INGOT_SHIFTED(with, to, from, bits) #with " v" #to ".16b, v" #from ".16b, #" #bits "\n"
#define INGOT_MASKED(with, to, from, mask) #with " v" #to ".16b, v" #from ".16b, v" #mask ".16b\n"
// Scales what the step before the last summed, multiplies what the last one split (was_low, v11, v10, was_high), and
// splits, two instructions for each sixteen codes. SLI puts the two high bits of both g (where they belong) and g + 2
// (above them) over the low ones of g; SRI puts the low ones of g + 6 below its high ones, all of them two places too
// high. These three kinds of work go to different pipes, so their instructions take turns.
#define INGOT_STEP(first, total, lower, upper, even, odd, was_low, was_high, a, b, c, d, from, at, low, further, high) \
  INGOT_SCALED(first, total, 14, upper, even) INGOT_LOAD(14, from, 320 + at) INGOT_DOT(14, 10, c) \
  INGOT_SHIFTED(ushr, 10, low, 4) \
  INGOT_SCALED(mla, total, 13, lower, odd) INGOT_LOAD(13, from, 288 + at) INGOT_DOT(13, 11, b) \
  INGOT_SHIFTED(sli, low, high, 4) \
  INGOT_SCALED(mla, total, 12, lower, even) INGOT_LOAD(12, from, 256 + at) INGOT_MASKED(bit, 10, high, 2) \
  INGOT_DOT(12, was_low, a) INGOT_SHIFTED(ushr, 11, low, 2) \
  INGOT_SCALED(mla, total, 15, upper, odd) INGOT_LOAD(15, from, 352 + at) INGOT_SHIFTED(sri, high, further, 2) \
  INGOT_DOT(15, was_high, d)
// The rest of splitting, and the bytes of the next step.
#define INGOT_NEXT(low, further, high, next_low, next_further, next_high, row, at_low, at_high) \
  INGOT_LOAD(next_low, row, at_low) INGOT_MASKED(and, low, low, 3) \
  INGOT_LOAD(next_further, row, at_low + 32) INGOT_MASKED(bit, 11, further, 1) \
  INGOT_LOAD(next_high, row, at_high) INGOT_SHIFTED(ushr, high, high, 2)
#define INGOT_SCALES(to, row, at) "ldr d" #to ", [%[" #row "], #192 + " #at "]\n"
#define INGOT_WIDEN(lower, upper) \
  "sxtl v" #lower ".8h, v" #lower ".8b\n" "sxtl2 v" #upper ".4s, v" #lower ".8h\n" \
  "sxtl v" #lower ".4s, v" #lower ".4h\n"
#define INGOT_FLOAT_SCALES \
  "ldrh %w[a], [%[w0], #208]\n" "ldrh %w[b], [%[w1], #208]\n" "orr %w[a], %w[a], %w[a], lsl #16\n" \
  "orr %w[b], %w[b], %w[b], lsl #16\n" "orr %[halves], %[a], %[b], lsl #32\n" "ldr s31, [%[x], #544]\n"
#define INGOT_JOIN "addp v30.4s, v16.4s, v17.4s\n"
#define INGOT_CONVERT "scvtf v30.4s, v30.4s\n"
#define INGOT_SCALE "fmul v30.4s, v30.4s, v31.s[0]\n" "fmov d31, %[halves]\n" "fcvtl v31.4s, v31.4h\n"
#define INGOT_ADD "fmla v0.4s, v30.4s, v31.4s\n"
// On to the next block, where there is one.
#define INGOT_ADVANCE \
  "mov %[before], %[x]\n" "sub %[left], %[left], #1\n" "mov %[a], #210\n" "mov %[b], #576\n" "cmp %[left], #0\n" \
  "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" \
  "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n" "add %[x], %[x], %[b]\n"

// Two lanes a row. Precondition: blocks > 0.
HWY_INLINE float32x4_t multiply_blocks(const std::array<const BlockQ6_K*, 2>& weights, std::int64_t blocks,
                                       const CodedSpan256* x) {
  static_assert(sizeof(BlockQ6_K) == 210 && offsetof(BlockQ6_K, high) == 128 && offsetof(BlockQ6_K, scales) == 192 &&
                offsetof(BlockQ6_K, scale) == 208 && sizeof(CodedSpan256) == 576 &&
                offsetof(CodedSpan256, corrections) == 256 && offsetof(CodedSpan256, scale) == 544);
  const BlockQ6_K *w0 = weights[0], *w1 = weights[1];
  const CodedSpan256* before = x;
  std::int64_t left = blocks;
  std::uint64_t a, b, halves = 0;
  float32x4_t both;
  __asm__ volatile(
        ".irp register, 0,7,8,9,10,11,12,13,14,15,16,17,22,23,24,25,26,27,28,29,30,31\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v1.16b, #15\n" "movi v2.16b, #48\n" "movi v3.16b, #63\n"
        INGOT_LOAD(4, w0, 0) INGOT_LOAD(5, w0, 32) INGOT_LOAD(6, w0, 128) INGOT_OF_X(18, 19, 20, 21, 0)
        "1:\n"
        INGOT_STEP(mla, 16, 26, 27, 1, 3, 7, 9, 22, 23, 24, 25, before, 144, 4, 5, 6)
            INGOT_NEXT(4, 5, 6, 7, 8, 9, w1, 0, 128) INGOT_SCALES(26, w0, 0)
        INGOT_STEP(mla, 17, 28, 29, 1, 3, 4, 6, 18, 19, 20, 21, x, 0, 7, 8, 9)
            INGOT_NEXT(7, 8, 9, 4, 5, 6, w0, 16, 144) INGOT_OF_X(22, 23, 24, 25, 16)
            INGOT_WIDEN(26, 27) INGOT_SCALES(28, w1, 0) INGOT_JOIN
        INGOT_STEP(mul, 16, 26, 27, 0, 2, 7, 9, 18, 19, 20, 21, x, 0, 4, 5, 6)
            INGOT_NEXT(4, 5, 6, 7, 8, 9, w1, 16, 144) INGOT_WIDEN(28, 29)
        INGOT_STEP(mul, 17, 28, 29, 0, 2, 4, 6, 22, 23, 24, 25, x, 16, 7, 8, 9)
            INGOT_NEXT(7, 8, 9, 4, 5, 6, w0, 64, 160) INGOT_OF_X(18, 19, 20, 21, 128) INGOT_CONVERT
        INGOT_STEP(mla, 16, 26, 27, 1, 3, 7, 9, 22, 23, 24, 25, x, 16, 4, 5, 6)
            INGOT_NEXT(4, 5, 6, 7, 8, 9, w1, 64, 160) INGOT_SCALES(26, w0, 8) INGOT_SCALE
        INGOT_STEP(mla, 17, 28, 29, 1, 3, 4, 6, 18, 19, 20, 21, x, 128, 7, 8, 9)
            INGOT_NEXT(7, 8, 9, 4, 5, 6, w0, 80, 176) INGOT_OF_X(22, 23, 24, 25, 144)
            INGOT_WIDEN(26, 27) INGOT_SCALES(28, w1, 8)
        INGOT_STEP(mla, 16, 26, 27, 0, 2, 7, 9, 18, 19, 20, 21, x, 128, 4, 5, 6)
            INGOT_NEXT(4, 5, 6, 7, 8, 9, w1, 80, 176) INGOT_WIDEN(28, 29) INGOT_ADD
        INGOT_STEP(mla, 17, 28, 29, 0, 2, 4, 6, 22, 23, 24, 25, x, 144, 7, 8, 9)
            INGOT_FLOAT_SCALES INGOT_ADVANCE INGOT_NEXT(7, 8, 9, 4, 5, 6, w0, 0, 128) INGOT_OF_X(18, 19, 20, 21, 0)
        "cbnz %[left], 1b\n"
        // What the last pass left, and splitting that nothing needs.
        INGOT_STEP(mla, 16, 26, 27, 1, 3, 7, 9, 22, 23, 24, 25, before, 144, 4, 5, 6)
        INGOT_STEP(mla, 17, 28, 29, 1, 3, 4, 6, 18, 19, 20, 21, x, 0, 7, 8, 9)
        INGOT_JOIN INGOT_CONVERT INGOT_SCALE INGOT_ADD
        "str q0, [%[both]]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [x] "+r"(x), [before] "+r"(before), [left] "+r"(left), [halves] "+r"(halves),
        [a] "=&r"(a), [b] "=&r"(b)
      : [both] "r"(&both)
      : "cc", "memory", INGOT_EVERY_VECTOR);
  return both;
}
// clang-format on

#undef INGOT_LOAD
#undef INGOT_OF_X
#undef INGOT_SCALED
#undef INGOT_DOT
#undef INGOT_SHIFTED
#undef INGOT_MASKED
#undef INGOT_STEP
#undef INGOT_NEXT
#undef INGOT_SCALES
#undef INGOT_WIDEN
#undef INGOT_FLOAT_SCALES
#undef INGOT_JOIN
#undef INGOT_CONVERT
#undef INGOT_SCALE
#undef INGOT_ADD
#undef INGOT_ADVANCE
