// Interleaved Q4_0 weights times pairs of rows of x (interleaved_pairs_neon-inl.h): part of a source.
//
// Neoverse V1 starts about three vector instructions a cycle in an order that leaves none of them waiting, so a loop's
// order is by time: it loads the bytes of four rows, zips quads of two neighbours into eight bytes of a row, takes
// their nibbles apart and multiplies them two to six cycles later; integers of four rows are scaled while the next four
// are summed, the last of a block by the pass after it. A pass with four rows of x is a block of one braid (16
// registers are sums), with two rows a block of two braids, which stand half a pass apart.

// How many braids are multiplied side by side.
template <class Block, int pairs>
constexpr int braids_at_once = 2;
template <int pairs>
constexpr int braids_at_once<BlockQ5_0, pairs> = 1;
template <>
constexpr int braids_at_once<BlockQ4_0, 2> = 1;

// clang-format off
HWY_INLINE void multiply_pairs(const InterleavedBlocks<BlockQ4_0>* const (&weights)[2], std::int64_t blocks,
                               const PairsBlock<1>* x, PairTotals<1> (&totals)[2]) {
  const InterleavedBlocks<BlockQ4_0> *w0 = weights[0], *n0 = w0, *w1 = weights[1], *n1 = w1;
  std::int64_t left = blocks, step;
  __asm__ volatile(
        INGOT_CLEAR "movi v31.16b, #15\n"
        INGOT_LOAD(8, n0, 16) INGOT_LOAD(9, n0, 48)
        INGOT_NEXT_TWO(144)
        "1:\n"
        INGOT_ZIP1(10, 8, 9) INGOT_ZIP2(16, 19, 19) INGOT_HIGH(19, 12) INGOT_LOAD(14, x, -64)
        INGOT_MULTIPLY(21, 24, 11) INGOT_ZIP2(11, 8, 9) INGOT_LOAD(12, w0, 80) INGOT_ADD(4, 13, 22)
        INGOT_MULTIPLY(20, 23, 14) INGOT_LOAD(8, w0, 112) INGOT_LOW(9, 10) INGOT_ADD(5, 15, 16)
        INGOT_MULTIPLY(21, 19, 14) INGOT_LOAD(13, x, 0) INGOT_LOAD(14, x, 64) INGOT_HIGH(15, 10) INGOT_LOW(16, 11)
        INGOT_MULTIPLY(14, 9, 13) INGOT_LOAD(9, x, 64) INGOT_ZIP1(10, 12, 8) INGOT_WIDEN_HIGH(19, 17)
        INGOT_ASK(w0, 768) INGOT_HIGH(17, 11) INGOT_LOAD(18, x, 32) INGOT_MULTIPLY(9, 16, 13) INGOT_LOAD(11, x, -16)
        INGOT_LOAD(22, x, -32) INGOT_MULTIPLY(14, 15, 18) INGOT_ZIP2(13, 12, 8) INGOT_LOAD(16, w0, 32)
        INGOT_LOAD(8, w0, 64) INGOT_LOAD(23, x, -32) INGOT_LOW(12, 10) INGOT_ADD(22, 20, 11)
        INGOT_MULTIPLY(9, 17, 18) INGOT_ADD(23, 21, 11) INGOT_LOAD(17, x, 16) INGOT_HIGH(18, 10) INGOT_LOW(15, 13)
        INGOT_MULTIPLY(14, 12, 17) INGOT_ZIP1(21, 19, 19) INGOT_ZIP1(12, 16, 8) INGOT_ZIP2(20, 19, 19)
        INGOT_HIGH(10, 13) INGOT_LOAD(11, x, 48) INGOT_MULTIPLY(9, 15, 17) INGOT_MULTIPLY(14, 18, 11)
        INGOT_LOAD(15, w0, 0) INGOT_ZIP2(17, 16, 8) INGOT_LOAD(13, w0, 96) INGOT_ADD(6, 22, 21)
        INGOT_LOAD(8, w0, 128) INGOT_LOW(16, 12) INGOT_ADD(7, 23, 20) INGOT_MULTIPLY(9, 10, 11) INGOT_LOAD(10, x, 0)
        INGOT_LOAD(11, x, 64) INGOT_HIGH(18, 12) INGOT_LOW(19, 17) INGOT_MULTIPLY(11, 16, 10) INGOT_LOAD(16, x, 64)
        INGOT_WIDEN_LOW(12, 15) INGOT_ZIP1(20, 13, 8) INGOT_ASK(w0, 832) INGOT_HIGH(21, 17) INGOT_LOAD(22, x, 32)
        INGOT_MULTIPLY(16, 19, 10) INGOT_LOAD(10, x, 96) INGOT_LOAD(19, x, 80) INGOT_MULTIPLY(11, 18, 22)
        INGOT_ZIP2(17, 13, 8) INGOT_LOAD(23, w1, 16) INGOT_LOAD(8, w1, 48) INGOT_LOAD(13, x, 80)
        INGOT_ADD(19, 14, 10) INGOT_LOW(18, 20) INGOT_MULTIPLY(16, 21, 22) INGOT_ADD(13, 9, 10) INGOT_LOAD(9, x, 16)
        INGOT_HIGH(10, 20) INGOT_LOW(21, 17) INGOT_ZIP1(20, 12, 12) INGOT_MULTIPLY(11, 18, 9) INGOT_ZIP1(18, 23, 8)
        INGOT_ZIP2(22, 12, 12) INGOT_HIGH(12, 17) INGOT_LOAD(14, x, 48) INGOT_MULTIPLY(16, 21, 9)
        INGOT_ADD(0, 19, 20) INGOT_MULTIPLY(11, 10, 14) INGOT_ZIP2(9, 23, 8) INGOT_LOAD(21, w1, 80)
        INGOT_LOAD(8, w1, 112) INGOT_LOW(10, 18) INGOT_ADD(1, 13, 22) INGOT_MULTIPLY(16, 12, 14) INGOT_LOAD(12, x, 0)
        INGOT_LOAD(14, x, 64) INGOT_HIGH(13, 18) INGOT_LOW(22, 9) INGOT_MULTIPLY(14, 10, 12) INGOT_LOAD(10, x, 64)
        INGOT_WIDEN_HIGH(18, 15) INGOT_ZIP1(19, 21, 8) INGOT_ASK(w1, 768) INGOT_HIGH(15, 9) INGOT_LOAD(20, x, 32)
        INGOT_MULTIPLY(10, 22, 12) INGOT_LOAD(12, x, 96) INGOT_LOAD(22, x, 80) INGOT_MULTIPLY(14, 13, 20)
        INGOT_ZIP2(9, 21, 8) INGOT_LOAD(23, w1, 32) INGOT_LOAD(8, w1, 64) INGOT_LOAD(13, x, 80) INGOT_ADD(22, 11, 12)
        INGOT_LOW(21, 19) INGOT_MULTIPLY(10, 15, 20) INGOT_ADD(13, 16, 12) INGOT_LOAD(12, x, 16) INGOT_HIGH(16, 19)
        INGOT_LOW(15, 9) INGOT_ZIP1(19, 18, 18) INGOT_MULTIPLY(14, 21, 12) INGOT_ZIP1(21, 23, 8)
        INGOT_ZIP2(20, 18, 18) INGOT_HIGH(18, 9) INGOT_LOAD(11, x, 48) INGOT_MULTIPLY(10, 15, 12)
        INGOT_ADD(2, 22, 19) INGOT_MULTIPLY(14, 16, 11) INGOT_LOAD(17, w1, 0) INGOT_ZIP2(12, 23, 8)
        INGOT_LOAD(15, w1, 96) INGOT_LOAD(16, w1, 128) INGOT_LOW(8, 21) INGOT_ADD(3, 13, 20)
        INGOT_MULTIPLY(10, 18, 11) INGOT_LOAD(11, x, 0) INGOT_LOAD(20, x, 64) INGOT_HIGH(18, 21) INGOT_LOW(13, 12)
        INGOT_MULTIPLY(20, 8, 11) INGOT_LOAD(21, x, 64) INGOT_WIDEN_LOW(19, 17) INGOT_ZIP1(22, 15, 16)
        INGOT_ASK(w1, 832) INGOT_HIGH(23, 12) INGOT_LOAD(24, x, 32) INGOT_MULTIPLY(21, 13, 11) INGOT_LOAD(11, x, 96)
        INGOT_LOAD(13, x, 80) INGOT_LOAD(8, n0, 16) INGOT_MULTIPLY(20, 18, 24) INGOT_ZIP2(12, 15, 16)
        INGOT_LOAD(9, n0, 48) INGOT_LOAD(15, x, 80) INGOT_ADD(13, 14, 11) INGOT_LOW(16, 22)
        INGOT_MULTIPLY(21, 23, 24) INGOT_ADD(15, 10, 11) INGOT_LOAD(11, x, 16) INGOT_HIGH(23, 22) INGOT_LOW(24, 12)
        INGOT_ZIP1(22, 19, 19) INGOT_MULTIPLY(20, 16, 11)
        INGOT_ADVANCE_TWO(144, 112)
        "cbnz %[left], 1b\n"
        INGOT_ZIP2(16, 19, 19) INGOT_HIGH(19, 12) INGOT_LOAD(14, x, -64) INGOT_MULTIPLY(21, 24, 11)
        INGOT_ADD(4, 13, 22) INGOT_MULTIPLY(20, 23, 14) INGOT_ADD(5, 15, 16) INGOT_MULTIPLY(21, 19, 14)
        INGOT_WIDEN_HIGH(19, 17) INGOT_LOAD(11, x, -16) INGOT_LOAD(22, x, -32) INGOT_LOAD(23, x, -32)
        INGOT_ADD(22, 20, 11) INGOT_ADD(23, 21, 11) INGOT_ZIP1(21, 19, 19) INGOT_ZIP2(20, 19, 19)
        INGOT_ADD(6, 22, 21) INGOT_ADD(7, 23, 20)
        INGOT_STORE(0, 1, 0) INGOT_STORE(2, 3, 32) INGOT_STORE(4, 5, 64) INGOT_STORE(6, 7, 96)
      : [w0] "+r"(w0), [n0] "+r"(n0), [w1] "+r"(w1), [n1] "+r"(n1), [x] "+r"(x),
        [left] "+r"(left), [step] "=&r"(step)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}

HWY_INLINE void multiply_pairs(const InterleavedBlocks<BlockQ4_0>* const (&weights)[1], std::int64_t blocks,
                               const PairsBlock<2>* x, PairTotals<2> (&totals)[1]) {
  const InterleavedBlocks<BlockQ4_0> *w0 = weights[0], *n0 = w0;
  std::int64_t left = blocks, step;
  __asm__ volatile(
        INGOT_CLEAR "movi v31.16b, #15\n"
        INGOT_LOAD(8, n0, 16) INGOT_LOAD(9, n0, 48)
        INGOT_NEXT_ONE(144)
        "1:\n"
        INGOT_ZIP1(10, 8, 9) INGOT_ZIP1(13, 14, 14) INGOT_MULTIPLY(23, 27, 11) INGOT_LOAD(12, x, -128)
        INGOT_ZIP2(19, 14, 14) INGOT_ADD(0, 17, 13) INGOT_ZIP2(11, 8, 9) INGOT_MULTIPLY(25, 27, 20)
        INGOT_MULTIPLY(21, 15, 12) INGOT_LOAD(20, x, -112) INGOT_KEEP(x, 512) INGOT_LOW(8, 10) INGOT_ADD(2, 26, 19)
        INGOT_MULTIPLY(22, 15, 20) INGOT_LOW(9, 11) INGOT_MULTIPLY(23, 28, 12) INGOT_HIGH(12, 10)
        INGOT_ADD(1, 18, 13) INGOT_LOAD(10, x, 128) INGOT_MULTIPLY(25, 28, 20) INGOT_LOAD(13, x, 0)
        INGOT_HIGH(14, 11) INGOT_LOAD(11, w0, 80) INGOT_LOAD(15, w0, 112) INGOT_ADD(3, 16, 19) INGOT_LOAD(16, x, 144)
        INGOT_MULTIPLY(10, 8, 13) INGOT_LOAD(17, x, 16) INGOT_LOAD(18, x, 128) INGOT_MULTIPLY(16, 8, 17)
        INGOT_ZIP1(8, 11, 15) INGOT_ASK(w0, 768) INGOT_LOAD(19, x, 144) INGOT_MULTIPLY(18, 9, 13)
        INGOT_LOAD(13, x, 64) INGOT_ZIP2(20, 11, 15) INGOT_LOAD(11, x, -32) INGOT_LOAD(15, x, -64)
        INGOT_MULTIPLY(19, 9, 17) INGOT_MULTIPLY(10, 12, 13) INGOT_LOAD(9, x, 80) INGOT_KEEP(x, 576) INGOT_LOW(17, 8)
        INGOT_ADD(15, 21, 11) INGOT_LOAD(21, x, -64) INGOT_MULTIPLY(16, 12, 9) INGOT_LOW(12, 20)
        INGOT_MULTIPLY(18, 14, 13) INGOT_ADD(21, 23, 11) INGOT_HIGH(13, 8) INGOT_LOAD(23, x, -16)
        INGOT_LOAD(28, x, -48) INGOT_MULTIPLY(19, 14, 9) INGOT_WIDEN_HIGH(26, 24) INGOT_LOAD(9, x, 32)
        INGOT_HIGH(14, 20) INGOT_ADD(28, 22, 23) INGOT_LOAD(20, w0, 32) INGOT_LOAD(8, w0, 64) INGOT_LOAD(22, x, -48)
        INGOT_MULTIPLY(10, 17, 9) INGOT_LOAD(11, x, 48) INGOT_ADD(22, 25, 23) INGOT_MULTIPLY(16, 17, 11)
        INGOT_ZIP1(17, 20, 8) INGOT_ZIP1(23, 26, 26) INGOT_MULTIPLY(18, 12, 9) INGOT_LOAD(9, x, 96)
        INGOT_ZIP2(25, 26, 26) INGOT_ADD(4, 15, 23) INGOT_ZIP2(15, 20, 8) INGOT_MULTIPLY(19, 12, 11)
        INGOT_MULTIPLY(10, 13, 9) INGOT_LOAD(11, x, 112) INGOT_KEEP(x, 640) INGOT_LOW(12, 17) INGOT_ADD(6, 21, 25)
        INGOT_MULTIPLY(16, 13, 11) INGOT_LOW(13, 15) INGOT_MULTIPLY(18, 14, 9) INGOT_HIGH(9, 17) INGOT_ADD(5, 28, 23)
        INGOT_LOAD(21, x, 128) INGOT_MULTIPLY(19, 14, 11) INGOT_LOAD(11, x, 0) INGOT_HIGH(14, 15)
        INGOT_LOAD(15, w0, 96) INGOT_LOAD(17, w0, 128) INGOT_ADD(7, 22, 25) INGOT_LOAD(22, x, 144)
        INGOT_MULTIPLY(21, 12, 11) INGOT_LOAD(8, x, 16) INGOT_LOAD(23, x, 128) INGOT_LOAD(24, w0, 0)
        INGOT_MULTIPLY(22, 12, 8) INGOT_ZIP1(12, 15, 17) INGOT_ASK(w0, 832) INGOT_LOAD(25, x, 144)
        INGOT_MULTIPLY(23, 13, 11) INGOT_LOAD(11, x, 64) INGOT_ZIP2(20, 15, 17) INGOT_LOAD(15, x, 192)
        INGOT_LOAD(17, x, 160) INGOT_MULTIPLY(25, 13, 8) INGOT_MULTIPLY(21, 9, 11) INGOT_LOAD(8, x, 80)
        INGOT_KEEP(x, 704) INGOT_LOW(13, 12) INGOT_ADD(17, 10, 15) INGOT_LOAD(26, x, 160) INGOT_MULTIPLY(22, 9, 8)
        INGOT_LOW(27, 20) INGOT_MULTIPLY(23, 14, 11) INGOT_ADD(26, 18, 15) INGOT_HIGH(15, 12) INGOT_LOAD(12, x, 208)
        INGOT_LOAD(18, x, 176) INGOT_MULTIPLY(25, 14, 8) INGOT_WIDEN_LOW(14, 24) INGOT_LOAD(11, x, 32)
        INGOT_HIGH(28, 20) INGOT_ADD(18, 16, 12) INGOT_LOAD(8, n0, 16) INGOT_LOAD(9, n0, 48) INGOT_LOAD(16, x, 176)
        INGOT_MULTIPLY(21, 13, 11) INGOT_LOAD(20, x, 48) INGOT_ADD(16, 19, 12) INGOT_MULTIPLY(22, 13, 20)
        INGOT_ADVANCE_ONE(144, 224)
        "cbnz %[left], 1b\n"
        INGOT_ZIP1(13, 14, 14) INGOT_MULTIPLY(23, 27, 11) INGOT_LOAD(12, x, -128) INGOT_ZIP2(19, 14, 14)
        INGOT_ADD(0, 17, 13) INGOT_MULTIPLY(25, 27, 20) INGOT_MULTIPLY(21, 15, 12) INGOT_LOAD(20, x, -112)
        INGOT_ADD(2, 26, 19) INGOT_MULTIPLY(22, 15, 20) INGOT_MULTIPLY(23, 28, 12) INGOT_ADD(1, 18, 13)
        INGOT_MULTIPLY(25, 28, 20) INGOT_ADD(3, 16, 19) INGOT_LOAD(11, x, -32) INGOT_LOAD(15, x, -64)
        INGOT_ADD(15, 21, 11) INGOT_LOAD(21, x, -64) INGOT_ADD(21, 23, 11) INGOT_LOAD(23, x, -16)
        INGOT_LOAD(28, x, -48) INGOT_WIDEN_HIGH(26, 24) INGOT_ADD(28, 22, 23) INGOT_LOAD(22, x, -48)
        INGOT_ADD(22, 25, 23) INGOT_ZIP1(23, 26, 26) INGOT_ZIP2(25, 26, 26) INGOT_ADD(4, 15, 23) INGOT_ADD(6, 21, 25)
        INGOT_ADD(5, 28, 23) INGOT_ADD(7, 22, 25)
        INGOT_STORE(0, 1, 0) INGOT_STORE(2, 3, 32) INGOT_STORE(4, 5, 64) INGOT_STORE(6, 7, 96)
      : [w0] "+r"(w0), [n0] "+r"(n0), [x] "+r"(x),
        [left] "+r"(left), [step] "=&r"(step)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}
// clang-format on
