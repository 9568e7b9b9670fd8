// Two braids of interleaved Q4_K weights times one row of x, as one block of assembly: part of
// matmul_interleaved_row_neon_i8mm.cc. Why assembly, and how a pass hands what it has not finished to the next:
// q4_0_braids_neon-inl.h.
//
// A register holds eight bytes b = a + 16 h of two rows: low nibbles a and high ones h of two groups of 32 elements.
// USMMLA multiplies each row of it with two columns of x,
//
//   a times (x of a, less x of h), and b times (0, x of h): the sum of a x in one lane, of 16 h x in the next,
//
// so that 32 codes take three instructions, where SDOT takes four because it wants h by itself. A block of eight rows
// takes 266 of them: 192 multiply, 38 scale by integers, 6 join the lanes, 16 are of minimums, 14 of floats. At three a
// cycle, which is what this order starts, that is 11 cycles a block and row; the memory gives one in 13.
//
// A pass is a block of one braid in sixteen steps of eight bytes; the next is the same block of the other braid. A
// step multiplies four registers and loads those of the next. Each fourth one also scales what four steps summed. The
// rest, which makes floats of the block before, stands in between.
//
// The memory answers while this multiplies only where it is asked early; but its own prefetcher goes on only as long as
// it sees misses. So one line in nine is left to it: 52 GB/s on two threads; without prefetches 44, with all of
// them 29.
//
//   v0     15 in each byte         v14-17  sums of two groups        v25-26  sums of the block, then as floats
//   v4-7   bytes                   v18-21  sums of the block         v27, v2  products with the minimums
//   v8-9   low nibbles             v22     scales of two groups      v28     sums of x, then its scale
//   v10-13 x, that of a first      v23-24  the same of two rows      v29, v1, v3, v31  minimums, floats of the rows
//                                                                    v30     63 in each byte

struct alignas(16) Q4_KLaneBlock {
  std::int8_t codes[16][2][16];  // for eight bytes of weights: x of a, less x of h; zeros, x of h
  std::int8_t sums[2][8];        // of 32 elements: 64 times the first and the second
  float scale;

  static HWY_INLINE void place(const std::int8_t* codes, float scale, const std::int32_t* sums, Q4_KLaneBlock& to) {
    unrolled<16>(INGOT_UNROLLED(i) {  // 16 elements of a and of h make two steps
      constexpr int at = i / 4 * 64 + i / 2 % 2 * 16;
      const int64x2_t low = vreinterpretq_s64_s8(vld1q_s8(codes + at)), zero = vdupq_n_s64(0);
      const int8x16_t high = vld1q_s8(codes + at + 32);
      const int64x2_t less = vreinterpretq_s64_s8(vnegq_s8(high)), plus = vreinterpretq_s64_s8(high);
      vst1q_s8(to.codes[i][0], vreinterpretq_s8_s64(i % 2 == 0 ? vzip1q_s64(low, less) : vzip2q_s64(low, less)));
      vst1q_s8(to.codes[i][1], vreinterpretq_s8_s64(i % 2 == 0 ? vzip1q_s64(zero, plus) : vzip2q_s64(zero, plus)));
    });
    for (int g = 0; g < 8; ++g) {
      const std::int32_t sum = sums[2 * g] + sums[2 * g + 1], upper = (sum + 32) >> 6;
      to.sums[0][g] = static_cast<std::int8_t>(upper);
      to.sums[1][g] = static_cast<std::int8_t>(sum - 64 * upper);
    }
    to.scale = scale;
  }
};

// clang-format off
#define INGOT_LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define INGOT_CLEAR(to) "movi v" #to ".2d, #0\n"
#define INGOT_LOW(to, bytes) "and v" #to ".16b, v" #bytes ".16b, v0.16b\n"
#define INGOT_MULTIPLY(to, w, of_x) "usmmla v" #to ".4s, v" #w ".16b, v" #of_x ".16b\n"
// Six bits in each byte: as they lie, and put together from the top bits of others.
#define INGOT_SIX(to) "and v" #to ".16b, v" #to ".16b, v30.16b\n"
#define INGOT_TOP(to) "ushr v" #to ".16b, v" #to ".16b, #2\n"
#define INGOT_INSERT(to, from, bits) "sri v" #to ".16b, v" #from ".16b, #" #bits "\n"
// Scales of both groups of two rows as integers: bytes go where `to` says.
#define INGOT_SPREAD(to) "tbl v" #to ".16b, {v22.16b}, v" #to ".16b\n"
#define INGOT_SCALE(with, to, sums, scales) #with " v" #to ".4s, v" #sums ".4s, v" #scales ".4s\n" INGOT_CLEAR(sums)
// Four rows: lanes of a, then those of h, which are 16 times as much.
#define INGOT_EVEN(to, first, second) "uzp1 v" #to ".4s, v" #first ".4s, v" #second ".4s\n"
#define INGOT_ODD(first, second) "uzp2 v" #second ".4s, v" #first ".4s, v" #second ".4s\n"
#define INGOT_JOIN(to, odd) "ssra v" #to ".4s, v" #odd ".4s, #4\n"
#define INGOT_DOT(to, minimums, lane) "sdot v" #to ".4s, v" #minimums ".16b, v28.4b[" #lane "]\n"
#define INGOT_TIMES_64(to) "shl v" #to ".4s, v" #to ".4s, #6\n"
#define INGOT_CONVERT(to) "scvtf v" #to ".4s, v" #to ".4s\n"
#define INGOT_WIDEN_LOW(to, halves) "fcvtl v" #to ".4s, v" #halves ".4h\n"
#define INGOT_WIDEN_HIGH(to, halves) "fcvtl2 v" #to ".4s, v" #halves ".8h\n"
#define INGOT_FLOAT(with, to, a, b) #with " v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
// What was summed is the negative of what belongs to the totals.
#define INGOT_SUBTRACT(to, sum) "fmls v" #to ".4s, v" #sum ".4s, v28.s[0]\n"
#define INGOT_STORE "stp q1, q31, [%[total]]\n"

#define INGOT_TWO_ROWS(sums, bytes, low, next, next_low, of_a, of_h, at, first, more) \
  first INGOT_MULTIPLY(sums, bytes, of_h) INGOT_LOW(next_low, next) more INGOT_MULTIPLY(sums, low, of_a) \
  INGOT_LOAD(bytes, w, at)
#define INGOT_STEP(of_a, of_h, next_a, next_h, at, x_at, f0, f1, f2, f3, m0, m1, m2, m3) \
  INGOT_LOAD(next_a, x, x_at) INGOT_LOAD(next_h, x, x_at + 16) \
  INGOT_TWO_ROWS(14, 4, 8, 5, 9, of_a, of_h, at, f0, m0) \
  INGOT_TWO_ROWS(15, 5, 9, 6, 8, of_a, of_h, at + 16, f1, m1) \
  INGOT_TWO_ROWS(16, 6, 8, 7, 9, of_a, of_h, at + 32, f2, m2) \
  INGOT_TWO_ROWS(17, 7, 9, 4, 8, of_a, of_h, at + 48, f3, m3)
// Step n of a pass, even or odd, and what stands in between; its prefetch is of the same braid's next block.
#define INGOT_ASK(at) "prfm pldl1keep, [%[w], #" #at "]\n"
#define INGOT_EVEN_STEP(n, ask, ...) \
  INGOT_ASK(ask + 64 * n) INGOT_STEP(10, 11, 12, 13, 192 + 64 * n, 32 + 32 * n, , , , , __VA_ARGS__)
#define INGOT_ODD_STEP(n, ask, ...) \
  INGOT_ASK(ask + 64 * n) INGOT_STEP(12, 13, 10, 11, 192 + 64 * n, 32 + 32 * n, , , , , __VA_ARGS__)
// Where the four steps before are scaled. v23 is that of the first rows.
#define INGOT_SCALING_STEP(n, ask, with) \
  INGOT_ASK(ask + 64 * n) \
  INGOT_STEP(10, 11, 12, 13, 192 + 64 * n, 32 + 32 * n, INGOT_SCALE(with, 18, 14, 23), INGOT_SCALE(with, 19, 15, 24), \
             INGOT_SCALE(with, 20, 16, 23), INGOT_SCALE(with, 21, 17, 24), INGOT_SPREAD(24) INGOT_LOAD(23, places, 32), \
             INGOT_SPREAD(23) INGOT_LOAD(24, places, 48), INGOT_SPREAD(24), )
#define INGOT_FIRST_PLACES INGOT_LOAD(23, places, 0)
#define INGOT_FIRST_SPREAD INGOT_SPREAD(23) INGOT_LOAD(24, places, 16)
// What makes floats of the block before, a step each.
#define INGOT_END_1 \
  INGOT_EVEN(25, 18, 19), INGOT_ODD(18, 19) INGOT_LOAD(29, was, 80), INGOT_EVEN(26, 20, 21) INGOT_LOAD(1, was, 112), \
  INGOT_ODD(20, 21) INGOT_LOAD(28, x_was, 512)
#define INGOT_END_2 INGOT_JOIN(25, 19), INGOT_SIX(29), INGOT_JOIN(26, 21), INGOT_SIX(1) INGOT_CLEAR(27)
#define INGOT_END_3 INGOT_DOT(27, 29, 0) INGOT_LOAD(3, was, 96), INGOT_CONVERT(25)
#define INGOT_END_4 \
  INGOT_DOT(27, 1, 1) INGOT_LOAD(31, was, 112), INGOT_TOP(31), INGOT_CONVERT(26), INGOT_TIMES_64(27)
#define INGOT_END_5 \
  INGOT_INSERT(31, 3, 4), INGOT_DOT(27, 29, 2) INGOT_LOAD(29, was, 80), INGOT_SIX(3) INGOT_CLEAR(2), \
  INGOT_DOT(27, 1, 3) INGOT_LOAD(1, was, 16)
#define INGOT_END_6 INGOT_INSERT(31, 29, 6), INGOT_DOT(2, 3, 0)
#define INGOT_END_7 INGOT_WIDEN_LOW(29, 1), INGOT_DOT(2, 31, 1), INGOT_WIDEN_HIGH(1, 1), INGOT_CONVERT(27)
#define INGOT_END_8 \
  INGOT_TIMES_64(2), INGOT_FLOAT(fmul, 27, 27, 29) INGOT_LOAD(29, was, 0), INGOT_DOT(2, 3, 2),
#define INGOT_END_9 INGOT_DOT(2, 31, 3) "ldr s28, [%[x_was], #528]\n", INGOT_WIDEN_LOW(3, 29)
#define INGOT_END_10 \
  INGOT_WIDEN_HIGH(29, 29), INGOT_CONVERT(2), INGOT_FLOAT(fmls, 27, 25, 3) INGOT_LOAD(31, total, 16)
#define INGOT_END_11 \
  INGOT_FLOAT(fmul, 2, 2, 1) INGOT_LOAD(1, total, 0), INGOT_FLOAT(fmls, 2, 26, 29) INGOT_SUBTRACT(1, 27), \
  INGOT_SUBTRACT(31, 2) INGOT_STORE
#define INGOT_FOUR_IN_TURN(a, b, c, d) a b c d
#define INGOT_IN_TURN(...) INGOT_FOUR_IN_TURN(__VA_ARGS__)
// On to the other braid, and to the next block after both, where there is one.
#define INGOT_ADVANCE \
  "mov %[was], %[w]\n" "mov %[x_was], %[x]\n" "add %[step], %[w], #1152\n" "subs %[left], %[left], #1\n" \
  "csel %[w], %[other], %[w], ne\n" "mov %[other], %[step]\n" "csel %[step], %[x_step], xzr, ne\n" \
  "add %[x], %[x], %[step]\n" "eor %[x_step], %[x_step], %[x_bytes]\n" "eor %[total], %[total], #32\n"

// totals: of the first braid's rows 0 to 3 and 4 to 7, and of the second's. Precondition: blocks > 0.
HWY_INLINE void multiply_two_braids(const InterleavedBlocks<BlockQ4_K>* w, const InterleavedBlocks<BlockQ4_K>* other,
                                    std::int64_t blocks, const Q4_KLaneBlock* x, float32x4_t (&totals)[2][2]) {
  using Weights = InterleavedBlocks<BlockQ4_K>;
  static_assert(sizeof(Weights) == 1152 && offsetof(Weights, minimums) == 16 && offsetof(Weights, group_scales) == 32 &&
                offsetof(Weights, group_minimums) == 80 && offsetof(Weights, codes) == 128);
  static_assert(offsetof(Q4_KLaneBlock, sums) == 512 && offsetof(Q4_KLaneBlock, scale) == 528);
  constexpr int no = 255;
  alignas(16) static constexpr std::uint8_t places[4][16] = {
      {0, no, no, no, 8, no, no, no, 1, no, no, no, 9, no, no, no},
      {2, no, no, no, 10, no, no, no, 3, no, no, no, 11, no, no, no},
      {4, no, no, no, 12, no, no, no, 5, no, no, no, 13, no, no, no},
      {6, no, no, no, 14, no, no, no, 7, no, no, no, 15, no, no, no}};
  alignas(16) static constexpr std::byte zeros[sizeof(Q4_KLaneBlock)] = {};  // what the first pass finishes
  alignas(64) float32x4_t sums[2][2] = {};
  const void *was = zeros, *x_was = zeros;
  void* total = sums[1];
  std::int64_t left = 2 * blocks;
  std::uint64_t x_step = 0, step;
  __asm__ volatile(
        ".irp register, 14,15,16,17,18,19,20,21,22,23\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v0.16b, #15\n" "movi v30.16b, #63\n"
        INGOT_LOAD(4, w, 128) INGOT_LOAD(5, w, 144) INGOT_LOAD(6, w, 160) INGOT_LOAD(7, w, 176)
        INGOT_LOAD(10, x, 0) INGOT_LOAD(11, x, 16) INGOT_LOAD(24, places, 16) INGOT_LOW(8, 4)
        "1:\n"
        INGOT_SCALING_STEP(0, 1152, mla)
        INGOT_ODD_STEP(1, 1152, INGOT_END_1)
        INGOT_EVEN_STEP(2, 1152, INGOT_END_2 INGOT_LOAD(22, w, 32))
        INGOT_ODD_STEP(3, 1152, INGOT_SIX(22), INGOT_END_3 INGOT_FIRST_PLACES, INGOT_FIRST_SPREAD)
        INGOT_SCALING_STEP(4, 1152, mul)
        INGOT_ODD_STEP(5, 1152, INGOT_END_4)
        INGOT_EVEN_STEP(6, 1152, INGOT_END_5 INGOT_LOAD(22, w, 48))
        INGOT_ODD_STEP(7, 1152, INGOT_SIX(22), INGOT_END_6 INGOT_FIRST_PLACES, INGOT_FIRST_SPREAD)
        INGOT_SCALING_STEP(8, 1216, mla)
        INGOT_ODD_STEP(9, 1216, INGOT_END_7)
        INGOT_EVEN_STEP(10, 1216, INGOT_END_8 INGOT_LOAD(22, w, 64))
        INGOT_ODD_STEP(11, 1216, INGOT_SIX(22), INGOT_END_9 INGOT_FIRST_PLACES, INGOT_FIRST_SPREAD)
        INGOT_SCALING_STEP(12, 1216, mla)
        INGOT_ODD_STEP(13, 1216, INGOT_LOAD(22, w, 64) INGOT_LOAD(23, w, 48) INGOT_LOAD(24, w, 32) INGOT_END_10,
                       INGOT_TOP(22))
        INGOT_EVEN_STEP(14, 1216, INGOT_INSERT(22, 23, 4) INGOT_END_11, INGOT_INSERT(22, 24, 6))
        INGOT_ASK(2176) INGOT_ADVANCE
        INGOT_STEP(12, 13, 10, 11, 128, 0, , , , , , , INGOT_FIRST_PLACES, INGOT_FIRST_SPREAD)
        "cbnz %[left], 1b\n"
        INGOT_SCALE(mla, 18, 14, 23) INGOT_SPREAD(24) INGOT_LOAD(23, places, 32)
        INGOT_SCALE(mla, 19, 15, 24) INGOT_SPREAD(23) INGOT_LOAD(24, places, 48)
        INGOT_SCALE(mla, 20, 16, 23) INGOT_SPREAD(24) INGOT_SCALE(mla, 21, 17, 24)
        INGOT_IN_TURN(INGOT_END_1) INGOT_IN_TURN(INGOT_END_2) INGOT_IN_TURN(INGOT_END_3, , ) INGOT_IN_TURN(INGOT_END_4)
        INGOT_IN_TURN(INGOT_END_5) INGOT_IN_TURN(INGOT_END_6, , ) INGOT_IN_TURN(INGOT_END_7) INGOT_IN_TURN(INGOT_END_8)
        INGOT_IN_TURN(INGOT_END_9, , ) INGOT_IN_TURN(INGOT_END_10, ) INGOT_IN_TURN(INGOT_END_11, )
      : [w] "+r"(w), [other] "+r"(other), [was] "+r"(was), [x] "+r"(x), [x_was] "+r"(x_was), [x_step] "+r"(x_step),
        [total] "+r"(total), [left] "+r"(left), [step] "=&r"(step)
      : [places] "r"(places), [x_bytes] "r"(sizeof(Q4_KLaneBlock))
      : "cc", "memory", INGOT_EVERY_VECTOR);
  for (int half = 0; half < 2; ++half) {
    totals[0][half] = sums[0][half];
    totals[1][half] = sums[1][half];
  }
}
// clang-format on

#undef INGOT_LOAD
#undef INGOT_CLEAR
#undef INGOT_LOW
#undef INGOT_MULTIPLY
#undef INGOT_SIX
#undef INGOT_TOP
#undef INGOT_INSERT
#undef INGOT_SPREAD
#undef INGOT_SCALE
#undef INGOT_EVEN
#undef INGOT_ODD
#undef INGOT_JOIN
#undef INGOT_DOT
#undef INGOT_TIMES_64
#undef INGOT_CONVERT
#undef INGOT_WIDEN_LOW
#undef INGOT_WIDEN_HIGH
#undef INGOT_FLOAT
#undef INGOT_SUBTRACT
#undef INGOT_STORE
#undef INGOT_TWO_ROWS
#undef INGOT_STEP
#undef INGOT_ASK
#undef INGOT_EVEN_STEP
#undef INGOT_ODD_STEP
#undef INGOT_SCALING_STEP
#undef INGOT_FIRST_PLACES
#undef INGOT_FIRST_SPREAD
#undef INGOT_END_1
#undef INGOT_END_2
#undef INGOT_END_3
#undef INGOT_END_4
#undef INGOT_END_5
#undef INGOT_END_6
#undef INGOT_END_7
#undef INGOT_END_8
#undef INGOT_END_9
#undef INGOT_END_10
#undef INGOT_END_11
#undef INGOT_FOUR_IN_TURN
#undef INGOT_IN_TURN
#undef INGOT_ADVANCE
