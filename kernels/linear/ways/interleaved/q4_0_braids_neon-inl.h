// Two braids of interleaved Q4_0 weights times one row of x, as one block of assembly: part of
// matmul_interleaved_neon_dotprod.cc.
//
// A block of a braid takes 40 vector instructions, of which Neoverse V1 starts about three a cycle in an order that
// leaves none of them waiting. So this order is by time, like that of q4_0_streams_neon-inl.h: each line below is a
// step that works on 16 bytes, which are four codes of a row's low nibbles and four of its high ones, for four rows. It
// multiplies what the step before split, splits its own bytes, loads those of three steps on, converts and scales what
// earlier steps summed. Sixteen steps are a pass, one block of both braids: the first half of the first braid's, of the
// second's, then the second halves, so that a register of x has half a pass to be loaded in. What a pass leaves over is
// done by the next; the first one has zeros to finish.
//
// Integers start from the bits of 1.5 * 2^23, where steps of one are bits of one: subtracting that float converts them,
// where SCVTF would start only once a cycle. They stay below 2^17, so that nothing is rounded.
// The memory answers while this multiplies only where it is asked early: without prefetches it gives a fifth less. It
// is asked twice, as q6_k_braids_neon-inl.h says.
//
//   v0-3   totals, two registers a braid    v11-14  integers            v24     scale of x
//   v4     15 in each byte                  v15     1.5 * 2^23          v25-26  x for quads 0 and 1, then 2 and 3
//   v5-8   bytes, then high nibbles         v16-19  integers as floats
//   v9-10  low nibbles                      v20-23  scales of the rows

constexpr std::int32_t float_of_zero = 0x4b400000;  // its bits

// A block of x. Codes of a quad's low nibbles and those of its high ones are neighbours.
struct Q4_0LaneBlock {
  std::int8_t codes[32];
  std::int32_t starts[4];  // of the integers: 1.5 * 2^23 as a float's bits, less what codes from 0 for -8 are too much
  float scales[4];

  static HWY_INLINE void place(const std::int8_t* codes, float scale, const std::int32_t* sums, Q4_0LaneBlock& to) {
    const int32x4_t low = vreinterpretq_s32_s8(vld1q_s8(codes)), high = vreinterpretq_s32_s8(vld1q_s8(codes + 16));
    vst1q_s8(to.codes, vreinterpretq_s8_s32(vzip1q_s32(low, high)));
    vst1q_s8(to.codes + 16, vreinterpretq_s8_s32(vzip2q_s32(low, high)));
    vst1q_s32(to.starts, vdupq_n_s32(float_of_zero - 8 * (sums[0] + sums[1])));
    vst1q_f32(to.scales, vdupq_n_f32(scale));
  }
};

// clang-format off
#define INGOT_CODES(to, braid, at) "ldr q" #to ", [%[w" #braid "], #" #at "]\n"
#define INGOT_OF_X(to, at) "ldr q" #to ", [%[x], #" #at "]\n"
#define INGOT_SPLIT(low, bytes) \
  "and v" #low ".16b, v" #bytes ".16b, v4.16b\n" "ushr v" #bytes ".16b, v" #bytes ".16b, #4\n"
#define INGOT_DOT(to, nibbles, x, lane) "sdot v" #to ".4s, v" #nibbles ".16b, v" #x ".4b[" #lane "]\n"
#define INGOT_CONVERT(to, sum) "fsub v" #to ".4s, v" #sum ".4s, v15.4s\n"
#define INGOT_SCALE(sum, scale) "fmul v" #sum ".4s, v" #sum ".4s, v" #scale ".4s\n"
#define INGOT_ADD(total, sum) "fmla v" #total ".4s, v" #sum ".4s, v24.4s\n"
#define INGOT_HALVES(to, braid) "ldr q" #to ", [%[w" #braid "]]\n"
#define INGOT_WIDEN_LOW(to, halves) "fcvtl v" #to ".4s, v" #halves ".4h\n"
#define INGOT_WIDEN_HIGH(to, halves) "fcvtl2 v" #to ".4s, v" #halves ".8h\n"
#define INGOT_PREFETCH(level, braid, at) "prfm pld" #level "keep, [%[w" #braid "], #" #at "]\n"
// On to the next block, where there is one.
#define INGOT_ADVANCE \
  "sub %[left], %[left], #1\n" "mov %[a], #144\n" "mov %[b], #64\n" "cmp %[left], #0\n" \
  "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" \
  "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n" "add %[x], %[x], %[b]\n"

// totals: of the first braid's rows 0 to 3 and 4 to 7, and of the second's. Precondition: blocks > 0.
HWY_INLINE void multiply_two_braids(const InterleavedBlocks<BlockQ4_0>* w0, const InterleavedBlocks<BlockQ4_0>* w1,
                                    std::int64_t blocks, const Q4_0LaneBlock* x, float32x4_t (&totals)[2][2]) {
  static_assert(sizeof(InterleavedBlocks<BlockQ4_0>) == 144 && offsetof(InterleavedBlocks<BlockQ4_0>, codes) == 16);
  static_assert(sizeof(Q4_0LaneBlock) == 64 && offsetof(Q4_0LaneBlock, starts) == 32 &&
                offsetof(Q4_0LaneBlock, scales) == 48);
  std::int64_t left = blocks;
  std::uint64_t a, b;
  __asm__ volatile(
        ".irp register, 0,1,2,3,8,10,16,17,18,19,20,21,22,23,24,26\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v4.16b, #15\n"
        "dup v15.4s, %w[zero]\n"
        INGOT_OF_X(25, 0) INGOT_OF_X(11, 32) INGOT_OF_X(12, 32) INGOT_OF_X(13, 32) INGOT_OF_X(14, 32)
        INGOT_CODES(5, 0, 16) INGOT_CODES(6, 0, 32) INGOT_CODES(7, 0, 48)
        "1:\n"
        INGOT_DOT(14, 10, 26, 2) INGOT_SPLIT(9, 5) INGOT_DOT(14, 8, 26, 3) INGOT_CODES(8, 0, 64) INGOT_SCALE(16, 20)
        INGOT_DOT(11, 9, 25, 0) INGOT_SPLIT(10, 6) INGOT_DOT(11, 5, 25, 1) INGOT_CODES(5, 1, 16) INGOT_OF_X(26, 16)
            INGOT_CONVERT(18, 13) INGOT_SCALE(17, 21)
        INGOT_DOT(12, 10, 25, 0) INGOT_SPLIT(9, 7) INGOT_DOT(12, 6, 25, 1) INGOT_PREFETCH(l1, 0, 768)
            INGOT_PREFETCH(l3, 0, 6144) INGOT_PREFETCH(l3, 0, 6272) INGOT_CODES(6, 1, 32)
            INGOT_CONVERT(19, 14) INGOT_OF_X(13, 32)
        INGOT_DOT(11, 9, 25, 2) INGOT_SPLIT(10, 8) INGOT_DOT(11, 7, 25, 3) INGOT_CODES(7, 1, 48) INGOT_OF_X(14, 32)
            INGOT_ADD(0, 16)
        INGOT_DOT(12, 10, 25, 2) INGOT_SPLIT(9, 5) INGOT_DOT(12, 8, 25, 3) INGOT_PREFETCH(l1, 1, 768)
            INGOT_PREFETCH(l3, 1, 6144) INGOT_PREFETCH(l3, 1, 6272) INGOT_CODES(8, 1, 64)
            INGOT_SCALE(18, 22) INGOT_ADD(1, 17)
        INGOT_DOT(13, 9, 25, 0) INGOT_SPLIT(10, 6) INGOT_DOT(13, 5, 25, 1) INGOT_CODES(5, 0, 80) INGOT_HALVES(21, 0)
            INGOT_SCALE(19, 23)
        INGOT_DOT(14, 10, 25, 0) INGOT_SPLIT(9, 7) INGOT_DOT(14, 6, 25, 1) INGOT_PREFETCH(l1, 0, 832)
            INGOT_PREFETCH(l3, 0, 6208) INGOT_CODES(6, 0, 96)
        INGOT_DOT(13, 9, 25, 2) INGOT_SPLIT(10, 8) INGOT_DOT(13, 7, 25, 3) INGOT_CODES(7, 0, 112) INGOT_ADD(2, 18)
        INGOT_DOT(14, 10, 25, 2) INGOT_SPLIT(9, 5) INGOT_DOT(14, 8, 25, 3) INGOT_PREFETCH(l1, 1, 832)
            INGOT_PREFETCH(l3, 1, 6208) INGOT_CODES(8, 0, 128) INGOT_ADD(3, 19) INGOT_OF_X(24, 48)
        INGOT_DOT(11, 9, 26, 0) INGOT_SPLIT(10, 6) INGOT_DOT(11, 5, 26, 1) INGOT_HALVES(23, 1) INGOT_CODES(5, 1, 80)
            INGOT_WIDEN_LOW(20, 21)
        INGOT_DOT(12, 10, 26, 0) INGOT_SPLIT(9, 7) INGOT_DOT(12, 6, 26, 1) INGOT_CODES(6, 1, 96)
            INGOT_WIDEN_HIGH(21, 21)
        INGOT_DOT(11, 9, 26, 2) INGOT_SPLIT(10, 8) INGOT_DOT(11, 7, 26, 3) INGOT_CODES(7, 1, 112)
        INGOT_DOT(12, 10, 26, 2) INGOT_SPLIT(9, 5) INGOT_DOT(12, 8, 26, 3) INGOT_CODES(8, 1, 128)
            INGOT_WIDEN_LOW(22, 23)
        INGOT_DOT(13, 9, 26, 0) INGOT_SPLIT(10, 6) INGOT_DOT(13, 5, 26, 1) INGOT_ADVANCE INGOT_OF_X(25, 0)
            INGOT_CODES(5, 0, 16) INGOT_CONVERT(16, 11) INGOT_OF_X(11, 32)
        INGOT_DOT(14, 10, 26, 0) INGOT_SPLIT(9, 7) INGOT_DOT(14, 6, 26, 1) INGOT_CODES(6, 0, 32) INGOT_CONVERT(17, 12)
            INGOT_OF_X(12, 32)
        INGOT_DOT(13, 9, 26, 2) INGOT_SPLIT(10, 8) INGOT_DOT(13, 7, 26, 3) INGOT_CODES(7, 0, 48)
            INGOT_WIDEN_HIGH(23, 23)
        "cbnz %[left], 1b\n"
        INGOT_DOT(14, 10, 26, 2) INGOT_DOT(14, 8, 26, 3) INGOT_CONVERT(18, 13) INGOT_CONVERT(19, 14) INGOT_SCALE(16, 20)
        INGOT_SCALE(17, 21) INGOT_SCALE(18, 22) INGOT_SCALE(19, 23) INGOT_ADD(0, 16) INGOT_ADD(1, 17) INGOT_ADD(2, 18)
        INGOT_ADD(3, 19)
        "stp q0, q1, [%[totals]]\n"
        "stp q2, q3, [%[totals], #32]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [x] "+r"(x), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b)
      : [totals] "r"(&totals), [zero] "r"(float_of_zero)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26");
}
// clang-format on

#undef INGOT_CODES
#undef INGOT_OF_X
#undef INGOT_SPLIT
#undef INGOT_DOT
#undef INGOT_CONVERT
#undef INGOT_SCALE
#undef INGOT_ADD
#undef INGOT_HALVES
#undef INGOT_WIDEN_LOW
#undef INGOT_WIDEN_HIGH
#undef INGOT_PREFETCH
#undef INGOT_ADVANCE
