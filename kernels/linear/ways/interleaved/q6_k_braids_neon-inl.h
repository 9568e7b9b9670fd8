// Two braids of interleaved Q6_K weights times one row of x, as one block of assembly: part of
// matmul_interleaved_neon_dotprod.cc. Why assembly, and how a step hands what it has not finished to the next:
// q4_0_braids_neon-inl.h.
//
// A block of a braid takes 408 vector instructions: 192 put six bits together (six for each sixteen elements of four
// rows), 128 multiply, 80 scale, 8 are of floats. A step is sixteen elements of four rows. It
// multiplies what the step before put together, puts its own bytes together, loads those of the next, and multiplies
// what the step before the last summed by integer scales. Eight steps are a pass: two groups of sixteen elements, of
// the first weights and of the second in turn. Eight passes are a block; the first of them also scales the sums of the
// block before by floats. Sums start from what codes that are 32 too large would add. This order of a step's
// instructions starts 3.25 of them a cycle, the best of a thousand that were timed; an order thought out starts 2.95.
//
// The memory is asked twice: for nearly all 8 KiB ahead into the last-level cache, and for two lines of three 768 bytes
// ahead into the first level. That reads as fast as loads alone; one of the two reads a tenth less, none a fifth less,
// and asking the first level for every line two fifths less.
//
//   v0-3    totals, two registers a braid    v11-14, v15-18  bytes, then    v25-26  the same of the second weights
//   v4-7    integers of the block                    codes, of two steps    v27-28  scales of the rows
//   v8      63 in each byte                  v19-20  sums of two steps      v29     scale of x
//   v9-10   x for both groups of sixteen     v21-22  scales of four rows    v30-31  integers as floats, their scales
//                                            v23-24  scales of both groups of sixteen

struct alignas(16) Q6_KLaneBlock {
  std::int8_t codes[256];
  std::int32_t starts[16][4];  // of the sums of sixteen
  float scale;

  static HWY_INLINE void place(const std::int8_t* codes, float scale, const std::int32_t* sums, Q6_KLaneBlock& to) {
    std::memcpy(to.codes, codes, sizeof(to.codes));
    for (int g = 0; g < 16; ++g) vst1q_s32(to.starts[g], vdupq_n_s32(-32 * sums[g]));
    to.scale = scale;
  }
};

// clang-format off
#define INGOT_LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define INGOT_DOT(to, codes, of_x, lane) "sdot v" #to ".4s, v" #codes ".16b, v" #of_x ".4b[" #lane "]\n"
#define INGOT_SHIFTED(with, to, from, bits) #with " v" #to ".16b, v" #from ".16b, #" #bits "\n"
#define INGOT_MASKED(codes) "and v" #codes ".16b, v" #codes ".16b, v8.16b\n"
#define INGOT_WIDEN(with, to, lanes, from, from_lanes) #with " v" #to "." #lanes ", v" #from "." #from_lanes "\n"
#define INGOT_SCALED(with, to, sum, scale) #with " v" #to ".4s, v" #sum ".4s, v" #scale ".4s\n"
#define INGOT_PREFETCH(level, braid, at) "prfm pld" #level "keep, [%[w" #braid "], #" #at "]\n"
// Codes a0 to a3 of this step, b0 to b3 of the step before, whose registers take the bytes of the next.
#define INGOT_STEP(a0, a1, a2, a3, b0, b1, b2, b3, sum, was_sum, scale, of_x, \
                   widen, group_scales, lanes, first, total, next, at, starts, prefetches, more) \
  INGOT_SHIFTED(ushr, a3, a2, 2) INGOT_MASKED(a2) INGOT_DOT(was_sum, b0, of_x, 0) prefetches \
  INGOT_LOAD(b0, next, at) INGOT_DOT(was_sum, b1, of_x, 1) INGOT_DOT(was_sum, b2, of_x, 2) \
  INGOT_DOT(was_sum, b3, of_x, 3) INGOT_WIDEN(widen, scale, 4s, group_scales, lanes) INGOT_SHIFTED(sri, a3, a1, 4) \
  INGOT_LOAD(b2, next, at + 64) INGOT_LOAD(b1, next, at + 32) INGOT_SHIFTED(sri, a3, a0, 6) INGOT_MASKED(a0) \
  INGOT_SCALED(first, total, sum, scale) INGOT_LOAD(sum, x, 256 + starts) more INGOT_MASKED(a1)
// Rows 0 to 3, then rows 4 to 7; loads are those of the other ones.
#define INGOT_LOW(...) INGOT_STEP(11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, __VA_ARGS__)
#define INGOT_HIGH(...) INGOT_STEP(15, 16, 17, 18, 11, 12, 13, 14, 20, 19, 22, __VA_ARGS__)
// The sums of the block before as floats, then with their scales added to the totals.
#define INGOT_CONVERT(sums, scales, lanes, widen) \
  "scvtf v30.4s, v" #sums ".4s\n" INGOT_WIDEN(widen, 31, 4s, scales, lanes) "fmul v30.4s, v30.4s, v31.4s\n"
#define INGOT_ADD(total) "fmla v" #total ".4s, v30.4s, v29.s[0]\n"
// Pass n of eight: what a block begins (float0 to float4, first) and ends with (advance, advance_x, next) is named.
#define INGOT_PASS(n, first, float0, float1, float2, float3, float4, halves, advance, advance_x, next) \
  INGOT_LOW(10, sxtl, 26, 4h, mla, 6, w0, 160 + 192 * n, 32 * n, INGOT_PREFETCH(l3, 0, 8192 + 192 * n), \
            float0 INGOT_LOAD(9, x, 32 * n) INGOT_LOAD(24, w0, 16 + 16 * n)) \
  INGOT_HIGH(9, sxtl2, 26, 8h, mla, 7, w1, 144 + 192 * n, 32 * n, \
             INGOT_PREFETCH(l3, 1, 8192 + 192 * n) INGOT_PREFETCH(l1, 0, 768 + 192 * n), \
             float1 INGOT_WIDEN(sxtl, 23, 8h, 24, 8b) INGOT_WIDEN(sxtl2, 24, 8h, 24, 16b)) \
  INGOT_LOW(9, sxtl, 23, 4h, first, 4, w1, 160 + 192 * n, 32 * n, INGOT_PREFETCH(l3, 0, 8256 + 192 * n), \
            float2 INGOT_LOAD(26, w1, 16 + 16 * n)) \
  INGOT_HIGH(9, sxtl2, 23, 8h, first, 5, w0, 240 + 192 * n, 32 * n, \
             INGOT_PREFETCH(l3, 1, 8256 + 192 * n) INGOT_PREFETCH(l1, 1, 768 + 192 * n), \
             float3 INGOT_WIDEN(sxtl, 25, 8h, 26, 8b) INGOT_WIDEN(sxtl2, 26, 8h, 26, 16b)) \
  INGOT_LOW(9, sxtl, 25, 4h, first, 6, w0, 256 + 192 * n, 16 + 32 * n, INGOT_PREFETCH(l3, 0, 8320 + 192 * n), \
            float4 INGOT_LOAD(10, x, 16 + 32 * n)) \
  INGOT_HIGH(10, sxtl2, 25, 8h, first, 7, w1, 240 + 192 * n, 16 + 32 * n, \
             INGOT_PREFETCH(l3, 1, 8320 + 192 * n) INGOT_PREFETCH(l1, 0, 832 + 192 * n), ) \
  INGOT_LOW(10, sxtl, 24, 4h, mla, 4, w1, 256 + 192 * n, 16 + 32 * n, , halves) \
  INGOT_HIGH(10, sxtl2, 24, 8h, mla, 5, w0, next, 16 + 32 * n, \
             INGOT_PREFETCH(l1, 1, 832 + 192 * n) advance, advance_x)
#define INGOT_MIDDLE(n) INGOT_PASS(n, mla, , , , , , , , , 336 + 192 * n)
// On to the next block, where there is one: x is needed once more before it goes.
#define INGOT_ADVANCE \
  "sub %[left], %[left], #1\n" "mov %[a], #1680\n" "mov %[b], #528\n" "cmp %[left], #0\n" \
  "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n"

// totals: of the first braid's rows 0 to 3 and 4 to 7, and of the second's. Precondition: blocks > 0.
HWY_INLINE void multiply_two_braids(const InterleavedBlocks<BlockQ6_K>* w0, const InterleavedBlocks<BlockQ6_K>* w1,
                                    std::int64_t blocks, const Q6_KLaneBlock* x, float32x4_t (&totals)[2][2]) {
  using Weights = InterleavedBlocks<BlockQ6_K>;
  static_assert(sizeof(Weights) == 1680 && offsetof(Weights, group_scales) == 16 && offsetof(Weights, codes) == 144);
  static_assert(sizeof(Q6_KLaneBlock) == 528 && offsetof(Q6_KLaneBlock, starts) == 256 &&
                offsetof(Q6_KLaneBlock, scale) == 512);
  std::int64_t left = blocks;
  std::uint64_t a, b;
  __asm__ volatile(
        // Integer scales and float scales of zero: what the first pass finds unfinished is nothing.
        ".irp register, 0,1,2,3,4,5,6,7,26,27,28,29\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v8.16b, #63\n"
        INGOT_LOAD(11, w0, 144) INGOT_LOAD(12, w0, 176) INGOT_LOAD(13, w0, 208)
        "1:\n"
        INGOT_PASS(0, mul, INGOT_CONVERT(4, 27, 4h, fcvtl), INGOT_ADD(0) INGOT_CONVERT(5, 27, 8h, fcvtl2),
                   INGOT_ADD(1) INGOT_CONVERT(6, 28, 4h, fcvtl), INGOT_ADD(2) INGOT_CONVERT(7, 28, 8h, fcvtl2),
                   INGOT_ADD(3), , , , 336)
        INGOT_MIDDLE(1) INGOT_MIDDLE(2) INGOT_MIDDLE(3) INGOT_MIDDLE(4) INGOT_MIDDLE(5) INGOT_MIDDLE(6)
        INGOT_PASS(7, mla, , , , , , INGOT_LOAD(27, w0, 0) INGOT_LOAD(28, w1, 0) "ldr s29, [%[x], #512]\n",
                   INGOT_ADVANCE, "add %[x], %[x], %[b]\n", 144)
        "cbnz %[left], 1b\n"
        INGOT_DOT(20, 15, 10, 0) INGOT_DOT(20, 16, 10, 1) INGOT_DOT(20, 17, 10, 2) INGOT_DOT(20, 18, 10, 3)
        INGOT_WIDEN(sxtl, 21, 4s, 26, 4h) INGOT_WIDEN(sxtl2, 22, 4s, 26, 8h)
        INGOT_SCALED(mla, 6, 19, 21) INGOT_SCALED(mla, 7, 20, 22)
        INGOT_CONVERT(4, 27, 4h, fcvtl) INGOT_ADD(0) INGOT_CONVERT(5, 27, 8h, fcvtl2) INGOT_ADD(1)
        INGOT_CONVERT(6, 28, 4h, fcvtl) INGOT_ADD(2) INGOT_CONVERT(7, 28, 8h, fcvtl2) INGOT_ADD(3)
        "stp q0, q1, [%[totals]]\n"
        "stp q2, q3, [%[totals], #32]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [x] "+r"(x), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}
// clang-format on

#undef INGOT_LOAD
#undef INGOT_DOT
#undef INGOT_SHIFTED
#undef INGOT_MASKED
#undef INGOT_WIDEN
#undef INGOT_SCALED
#undef INGOT_PREFETCH
#undef INGOT_STEP
#undef INGOT_LOW
#undef INGOT_HIGH
#undef INGOT_CONVERT
#undef INGOT_ADD
#undef INGOT_PASS
#undef INGOT_MIDDLE
#undef INGOT_ADVANCE
