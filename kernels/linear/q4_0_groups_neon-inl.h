// Two groups of interleaved Q4_0 weights times one row of x, as one block of assembly: part of
// matmul_interleaved_neon_dotprod.cc.
//
// A block of a group of eight rows takes 40 vector instructions, of which Neoverse V1 starts about three a cycle in an
// order that leaves none of them waiting. So this order is by time, like that of q4_0_streams_neon-inl.h: each line
// below is a step that works on 16 bytes, which are four codes of a row's low nibbles and four of its high ones, for
// four rows. It multiplies what the step before split, loads the bytes of seven steps on, splits its own, and converts
// and scales what earlier steps summed. Sixteen steps are a pass, one block of both groups: the first half of the
// first group's, of the second's, then the second halves, so that a register of x has half a pass to be loaded in. What
// a pass leaves over is done by the next; the first one has zeros to finish.
//
//   v0-3    totals, two registers a group    v16-19  integers            v28     scale of x
//   v4      15 in each byte                  v20-23  the same as floats  v29-30  x for quads 0 and 1, then 2 and 3
//   v5-12   bytes, then high nibbles         v24-27  scales of the rows
//   v13-14  low nibbles

// A block of x. Codes of a quad's low nibbles and those of its high ones are neighbours.
struct LaneBlock {
  std::int8_t codes[32];
  std::int32_t corrections[4];  // what the integers start from: codes of weights are 0 to 15 for -8 to 7
  float scales[4];
};

// clang-format off
#define INGOT_CODES(to, group, at) "ldr q" #to ", [%[w" #group "], #" #at "]\n"
#define INGOT_OF_X(to, at) "ldr q" #to ", [%[x], #" #at "]\n"
#define INGOT_SPLIT(low, bytes) \
  "and v" #low ".16b, v" #bytes ".16b, v4.16b\n" "ushr v" #bytes ".16b, v" #bytes ".16b, #4\n"
#define INGOT_DOT(to, low, high, x, low_lane, high_lane) \
  "sdot v" #to ".4s, v" #low ".16b, v" #x ".4b[" #low_lane "]\n" \
  "sdot v" #to ".4s, v" #high ".16b, v" #x ".4b[" #high_lane "]\n"
#define INGOT_CONVERT(to, sum) "scvtf v" #to ".4s, v" #sum ".4s\n"
#define INGOT_SCALE(sum) "fmul v" #sum ".4s, v" #sum ".4s, v28.4s\n"
#define INGOT_ADD(total, sum, scale) "fmla v" #total ".4s, v" #sum ".4s, v" #scale ".4s\n"
#define INGOT_HALVES(to, group) "ldr q" #to ", [%[w" #group "]]\n"
#define INGOT_WIDEN_LOW(to, halves) "fcvtl v" #to ".4s, v" #halves ".4h\n"
#define INGOT_WIDEN_HIGH(to, halves) "fcvtl2 v" #to ".4s, v" #halves ".8h\n"
// On to the next block, where there is one.
#define INGOT_ADVANCE \
  "sub %[left], %[left], #1\n" "mov %[a], #144\n" "mov %[b], #64\n" "cmp %[left], #0\n" \
  "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" \
  "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n" "add %[x], %[x], %[b]\n"

// totals: of the first group's rows 0 to 3 and 4 to 7, and of the second's. Precondition: blocks > 0.
HWY_INLINE void multiply_two_groups(const InterleavedBlocks<BlockQ4_0>* w0, const InterleavedBlocks<BlockQ4_0>* w1,
                                    std::int64_t blocks, const LaneBlock* x, float32x4_t (&totals)[2][2]) {
  static_assert(sizeof(InterleavedBlocks<BlockQ4_0>) == 144 && offsetof(InterleavedBlocks<BlockQ4_0>, codes) == 16);
  static_assert(sizeof(LaneBlock) == 64 && offsetof(LaneBlock, corrections) == 32 && offsetof(LaneBlock, scales) == 48);
  std::int64_t left = blocks;
  std::uint64_t a, b;
  __asm__ volatile(
        ".irp register, 0,1,2,3,12,14,18,19,20,21,22,23,24,25,26,27,28,30\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v4.16b, #15\n"
        INGOT_OF_X(29, 0) INGOT_OF_X(16, 32) INGOT_OF_X(17, 32) INGOT_CODES(5, 0, 16) INGOT_CODES(6, 0, 32)
        INGOT_CODES(7, 0, 48) INGOT_CODES(8, 0, 64) INGOT_CODES(9, 1, 16) INGOT_CODES(10, 1, 32) INGOT_CODES(11, 1, 48)
        "1:\n"
        INGOT_DOT(19, 14, 12, 30, 2, 3) INGOT_CODES(12, 1, 64) INGOT_SPLIT(13, 5) INGOT_SCALE(20)
        INGOT_DOT(16, 13, 5, 29, 0, 1) INGOT_CODES(5, 0, 80) INGOT_SPLIT(14, 6) INGOT_OF_X(30, 16)
            INGOT_CONVERT(22, 18) INGOT_SCALE(21)
        INGOT_DOT(17, 14, 6, 29, 0, 1) INGOT_CODES(6, 0, 96) INGOT_SPLIT(13, 7) INGOT_CONVERT(23, 19)
            INGOT_OF_X(18, 32)
        INGOT_DOT(16, 13, 7, 29, 2, 3) INGOT_CODES(7, 0, 112) INGOT_SPLIT(14, 8) INGOT_OF_X(19, 32)
            INGOT_ADD(0, 20, 24)
        INGOT_DOT(17, 14, 8, 29, 2, 3) INGOT_CODES(8, 0, 128) INGOT_SPLIT(13, 9) INGOT_SCALE(22) INGOT_ADD(1, 21, 25)
        INGOT_DOT(18, 13, 9, 29, 0, 1) INGOT_CODES(9, 1, 80) INGOT_SPLIT(14, 10) INGOT_HALVES(25, 0) INGOT_SCALE(23)
        INGOT_DOT(19, 14, 10, 29, 0, 1) INGOT_CODES(10, 1, 96) INGOT_SPLIT(13, 11)
        INGOT_DOT(18, 13, 11, 29, 2, 3) INGOT_CODES(11, 1, 112) INGOT_SPLIT(14, 12) INGOT_ADD(2, 22, 26)
        INGOT_DOT(19, 14, 12, 29, 2, 3) INGOT_CODES(12, 1, 128) INGOT_SPLIT(13, 5) INGOT_OF_X(28, 48)
            INGOT_ADD(3, 23, 27)
        INGOT_DOT(16, 13, 5, 30, 0, 1) INGOT_HALVES(27, 1) INGOT_ADVANCE INGOT_OF_X(29, 0) INGOT_CODES(5, 0, 16)
            INGOT_SPLIT(14, 6) INGOT_WIDEN_LOW(24, 25)
        INGOT_DOT(17, 14, 6, 30, 0, 1) INGOT_CODES(6, 0, 32) INGOT_SPLIT(13, 7) INGOT_WIDEN_HIGH(25, 25)
        INGOT_DOT(16, 13, 7, 30, 2, 3) INGOT_CODES(7, 0, 48) INGOT_SPLIT(14, 8)
        INGOT_DOT(17, 14, 8, 30, 2, 3) INGOT_CODES(8, 0, 64) INGOT_SPLIT(13, 9) INGOT_WIDEN_LOW(26, 27)
        INGOT_DOT(18, 13, 9, 30, 0, 1) INGOT_CODES(9, 1, 16) INGOT_SPLIT(14, 10) INGOT_CONVERT(20, 16)
            INGOT_OF_X(16, 32)
        INGOT_DOT(19, 14, 10, 30, 0, 1) INGOT_CODES(10, 1, 32) INGOT_SPLIT(13, 11) INGOT_CONVERT(21, 17)
            INGOT_OF_X(17, 32)
        INGOT_DOT(18, 13, 11, 30, 2, 3) INGOT_CODES(11, 1, 48) INGOT_SPLIT(14, 12) INGOT_WIDEN_HIGH(27, 27)
        "cbnz %[left], 1b\n"
        INGOT_DOT(19, 14, 12, 30, 2, 3) INGOT_CONVERT(22, 18) INGOT_CONVERT(23, 19) INGOT_SCALE(20) INGOT_SCALE(21)
        INGOT_SCALE(22) INGOT_SCALE(23) INGOT_ADD(0, 20, 24) INGOT_ADD(1, 21, 25) INGOT_ADD(2, 22, 26)
        INGOT_ADD(3, 23, 27)
        "stp q0, q1, [%[totals]]\n"
        "stp q2, q3, [%[totals], #32]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [x] "+r"(x), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b)
      : [totals] "r"(&totals)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30");
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
#undef INGOT_ADVANCE
