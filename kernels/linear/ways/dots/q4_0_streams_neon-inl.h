// Four rows of Q4_0 weights times one row of x, as one block of assembly: part of gemm_codes_neon_dotprod.cc, before
// codes_32_neon-inl.h.
//
// Four blocks of four rows take 96 vector instructions, and Neoverse V1 starts three a cycle of such a mix in any order
// that leaves none of them waiting; in the order that compilers choose it is two and a half. So this order is by time:
// each line below is a step of two cycles that works on one block (block b of row r at step 4 b + r, sixteen steps a
// pass). It loads the bytes of the block three steps on, splits those of its own, multiplies those that the step before
// split, and sums, converts and scales what earlier steps multiplied. What a pass leaves over for its last blocks
// is done by the next; the first one has zeros to finish.
//
//   v0-3    sums of the rows            v13-14  low nibbles               v19-22  integers of block 0, then 0 and 1
//   v4      15 in each byte             v15-16  x for low nibbles         v23-26  of block 2, 2 and 3, then of all four
//   v5-8    bytes, then high nibbles    v17-18  x for high nibbles        v27-30  of block 1, then block 3
//   v9-12   scales of the rows          v31     corrections, then scales of x

// clang-format off
#define INGOT_CODES(to, row, at) "ldr q" #to ", [%[w" #row "], #" #at "]\n"
#define INGOT_OF_X(to, at) "ldr q" #to ", [%[x], #" #at "]\n"
#define INGOT_SPLIT(low, bytes) \
  "and v" #low ".16b, v" #bytes ".16b, v4.16b\n" "ushr v" #bytes ".16b, v" #bytes ".16b, #4\n"
#define INGOT_DOT(to, low, high, x_low, x_high) \
  "movi v" #to ".2d, #0\n" "sdot v" #to ".4s, v" #low ".16b, v" #x_low ".16b\n" \
  "sdot v" #to ".4s, v" #high ".16b, v" #x_high ".16b\n"
#define INGOT_PAIRS(to, a, b) "addp v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_CORRECTIONS "ldr q31, [%[x], #128]\n"
#define INGOT_CORRECT(sum) "add v" #sum ".4s, v" #sum ".4s, v31.4s\n"
#define INGOT_CONVERT(sum) "scvtf v" #sum ".4s, v" #sum ".4s\n"
#define INGOT_SCALES_OF_X "ldr q31, [%[before], #192]\n"
#define INGOT_SCALE(sum) "fmul v" #sum ".4s, v" #sum ".4s, v31.4s\n"
#define INGOT_ADD(row, sum, scale) "fmla v" #row ".4s, v" #sum ".4s, v" #scale ".4s\n"
#define INGOT_HALVES(to, row) \
  "ldrh %w[a], [%[w" #row "]]\n" "ldrh %w[b], [%[w" #row "], #18]\n" \
  "ldrh %w[c], [%[w" #row "], #36]\n" "ldrh %w[d], [%[w" #row "], #54]\n" \
  "orr %w[a], %w[a], %w[b], lsl #16\n" "orr %w[c], %w[c], %w[d], lsl #16\n" \
  "orr %[a], %[a], %[c], lsl #32\n" "fmov d" #to ", %[a]\n"
#define INGOT_WIDEN(scale) "fcvtl v" #scale ".4s, v" #scale ".4h\n"
// On to the next four blocks, where there are some.
#define INGOT_ADVANCE \
  "mov %[before], %[x]\n" "sub %[left], %[left], #1\n" "mov %[a], #72\n" "mov %[b], #256\n" \
  "cmp %[left], #0\n" "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" \
  "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n" "add %[w2], %[w2], %[a]\n" "add %[w3], %[w3], %[a]\n" \
  "add %[x], %[x], %[b]\n"

// Precondition: spans > 0.
HWY_INLINE void add_spans_of_q4_0(const std::array<const BlockQ4_0*, 4>& weights, std::int64_t spans,
                                  const CodedSpan32* x, float32x4_t (&sums)[4][1]) {
  static_assert(sizeof(BlockQ4_0) == 18 && sizeof(CodedSpan32) == 256 && offsetof(CodedSpan32, corrections) == 128 &&
                offsetof(CodedSpan32, scales) == 192);
  const BlockQ4_0 *w0 = weights[0], *w1 = weights[1], *w2 = weights[2], *w3 = weights[3];
  const CodedSpan32* before = x;
  std::int64_t left = spans;
  std::uint64_t a, b, c, d;
  __asm__ volatile(
        ".irp register, 0,1,2,3,9,10,11,12,13,14,16,18,19,20,21,22,23,24,25,26,27,28,29,30,31,8\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v4.16b, #15\n"
        INGOT_CODES(5, 0, 2) INGOT_CODES(6, 1, 2) INGOT_CODES(7, 2, 2) INGOT_OF_X(15, 0) INGOT_OF_X(17, 64)
        "1:\n"
        INGOT_DOT(30, 14, 8, 16, 18) INGOT_CODES(8, 3, 2) INGOT_SPLIT(13, 5) INGOT_PAIRS(24, 24, 28)
            INGOT_PAIRS(23, 19, 23)
        INGOT_DOT(19, 13, 5, 15, 17) INGOT_CODES(5, 0, 20) INGOT_SPLIT(14, 6) INGOT_OF_X(16, 16) INGOT_OF_X(18, 80)
            INGOT_PAIRS(25, 25, 29) INGOT_PAIRS(24, 20, 24) INGOT_CORRECT(23)
        INGOT_DOT(20, 14, 6, 15, 17) INGOT_CODES(6, 1, 20) INGOT_SPLIT(13, 7) INGOT_PAIRS(26, 26, 30)
            INGOT_PAIRS(25, 21, 25) INGOT_CORRECT(24) INGOT_CONVERT(23)
        INGOT_DOT(21, 13, 7, 15, 17) INGOT_CODES(7, 2, 20) INGOT_SPLIT(14, 8) INGOT_PAIRS(26, 22, 26)
            INGOT_CORRECT(25) INGOT_CONVERT(24)
        INGOT_DOT(22, 14, 8, 15, 17) INGOT_CODES(8, 3, 20) INGOT_SPLIT(13, 5) INGOT_CORRECT(26) INGOT_CONVERT(25)
            INGOT_SCALES_OF_X
        INGOT_DOT(27, 13, 5, 16, 18) INGOT_CODES(5, 0, 38) INGOT_SPLIT(14, 6) INGOT_OF_X(15, 32) INGOT_OF_X(17, 96)
            INGOT_CONVERT(26) INGOT_SCALE(23)
        INGOT_DOT(28, 14, 6, 16, 18) INGOT_CODES(6, 1, 38) INGOT_SPLIT(13, 7) INGOT_SCALE(24)
        INGOT_DOT(29, 13, 7, 16, 18) INGOT_CODES(7, 2, 38) INGOT_SPLIT(14, 8) INGOT_PAIRS(19, 19, 27) INGOT_SCALE(25)
            INGOT_ADD(0, 23, 9)
        INGOT_DOT(30, 14, 8, 16, 18) INGOT_CODES(8, 3, 38) INGOT_SPLIT(13, 5) INGOT_PAIRS(20, 20, 28) INGOT_SCALE(26)
            INGOT_ADD(1, 24, 10) INGOT_HALVES(9, 0)
        INGOT_DOT(23, 13, 5, 15, 17) INGOT_CODES(5, 0, 56) INGOT_SPLIT(14, 6) INGOT_OF_X(16, 48) INGOT_OF_X(18, 112)
            INGOT_PAIRS(21, 21, 29) INGOT_ADD(2, 25, 11) INGOT_HALVES(10, 1)
        INGOT_DOT(24, 14, 6, 15, 17) INGOT_CODES(6, 1, 56) INGOT_SPLIT(13, 7) INGOT_PAIRS(22, 22, 30)
            INGOT_ADD(3, 26, 12) INGOT_HALVES(11, 2)
        INGOT_DOT(25, 13, 7, 15, 17) INGOT_CODES(7, 2, 56) INGOT_SPLIT(14, 8) INGOT_HALVES(12, 3)
        INGOT_DOT(26, 14, 8, 15, 17) INGOT_CODES(8, 3, 56) INGOT_SPLIT(13, 5) INGOT_CORRECTIONS INGOT_WIDEN(9)
        INGOT_ADVANCE INGOT_DOT(27, 13, 5, 16, 18) INGOT_CODES(5, 0, 2) INGOT_SPLIT(14, 6) INGOT_OF_X(15, 0)
            INGOT_OF_X(17, 64) INGOT_WIDEN(10)
        INGOT_DOT(28, 14, 6, 16, 18) INGOT_CODES(6, 1, 2) INGOT_SPLIT(13, 7) INGOT_WIDEN(11)
        INGOT_DOT(29, 13, 7, 16, 18) INGOT_CODES(7, 2, 2) INGOT_SPLIT(14, 8) INGOT_PAIRS(23, 23, 27) INGOT_WIDEN(12)
        "cbnz %[left], 1b\n"
        INGOT_DOT(30, 14, 8, 16, 18) INGOT_PAIRS(24, 24, 28) INGOT_PAIRS(23, 19, 23) INGOT_PAIRS(25, 25, 29)
        INGOT_PAIRS(24, 20, 24) INGOT_CORRECT(23) INGOT_PAIRS(26, 26, 30) INGOT_PAIRS(25, 21, 25) INGOT_CORRECT(24)
        INGOT_CONVERT(23) INGOT_PAIRS(26, 22, 26) INGOT_CORRECT(25) INGOT_CONVERT(24) INGOT_CORRECT(26) INGOT_CONVERT(25)
        INGOT_SCALES_OF_X INGOT_CONVERT(26) INGOT_SCALE(23) INGOT_SCALE(24) INGOT_SCALE(25) INGOT_SCALE(26)
        INGOT_ADD(0, 23, 9) INGOT_ADD(1, 24, 10) INGOT_ADD(2, 25, 11) INGOT_ADD(3, 26, 12)
        "stp q0, q1, [%[sums]]\n"
        "stp q2, q3, [%[sums], #32]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3), [x] "+r"(x), [before] "+r"(before),
        [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
      : [sums] "r"(&sums)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}
// clang-format on

#undef INGOT_DOT
#undef INGOT_CODES
#undef INGOT_SPLIT
#undef INGOT_PAIRS
#undef INGOT_CORRECTIONS
#undef INGOT_CORRECT
#undef INGOT_CONVERT
#undef INGOT_SCALES_OF_X
#undef INGOT_SCALE
#undef INGOT_ADD
#undef INGOT_HALVES
#undef INGOT_WIDEN
#undef INGOT_OF_X
#undef INGOT_ADVANCE
