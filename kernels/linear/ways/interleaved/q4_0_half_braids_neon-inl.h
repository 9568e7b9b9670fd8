// Four rows of interleaved Q4_0 weights times three or four pairs of rows of x (half_braids_neon-inl.h): part of
// a source. The order is by time, as in q4_0_pairs_neon-inl.h: bytes are loaded, zipped, taken apart and multiplied a
// few cycles later each, while the integers of the block before are scaled. Of orders that keep to these delays and to
// 32 registers, some hundred were timed.

// clang-format off
HWY_INLINE void multiply_half_braid(HalfBraid<BlockQ4_0> weights, std::int64_t blocks, const PairsBlock<3>* x,
                              const std::byte* ahead, HalfBraidTotals<3>& totals) {
  const std::byte *w0 = weights.codes, *n0 = w0, *scales = weights.scales;
  std::int64_t left = blocks, step;
  __asm__ volatile(
        INGOT_CLEAR "movi v31.16b, #15\n" INGOT_TAKE(0, 1, 0) INGOT_TAKE(2, 3, 32) INGOT_TAKE(4, 5, 64)
        INGOT_LOAD(6, n0, 16) INGOT_LOAD(7, n0, 48) INGOT_NEXT_ONE(144)
        "1:\n"
        INGOT_ZIP1(8, 6, 7) INGOT_LOAD(15, x, -176) INGOT_MULTIPLY(14, 13, 15) INGOT_ZIP2(9, 6, 7)
        INGOT_MULTIPLY(16, 10, 15) INGOT_WIDEN_LOW(15, 18) INGOT_LOW(6, 8) INGOT_LOAD(18, x, -160)
        INGOT_MULTIPLY(17, 13, 18) INGOT_HIGH(7, 8) INGOT_LOW(8, 9) INGOT_MULTIPLY(19, 10, 18) INGOT_LOAD(18, x, -48)
        INGOT_LOAD(20, x, -96) INGOT_HIGH(10, 9) INGOT_ADD(20, 11, 18) INGOT_LOAD(21, x, -96) INGOT_ADD(21, 12, 18)
        INGOT_ASK(ahead, 0) INGOT_LOAD(11, x, 192) INGOT_LOAD(18, x, -32) INGOT_LOAD(22, x, -80) INGOT_LOAD(9, x, 0)
        INGOT_ADD(22, 14, 18) INGOT_MULTIPLY(11, 6, 9) INGOT_LOAD(12, x, 192) INGOT_ZIP1(23, 15, 15)
        INGOT_ZIP2(24, 15, 15) INGOT_LOAD(25, x, -80) INGOT_MULTIPLY(12, 8, 9) INGOT_LOAD(9, w0, 80)
        INGOT_ADD(25, 16, 18) INGOT_LOAD(18, x, -16) INGOT_LOAD(26, x, -64) INGOT_LOAD(13, w0, 112)
        INGOT_LOAD(14, x, 208) INGOT_LOAD(15, x, 16) INGOT_ADD(26, 17, 18) INGOT_MULTIPLY(14, 6, 15)
        INGOT_LOAD(16, x, 208) INGOT_LOAD(27, x, -64) INGOT_ADD(27, 19, 18) INGOT_MULTIPLY(16, 8, 15)
        INGOT_LOAD(17, x, 224) INGOT_LOAD(15, x, 96) INGOT_LOAD(18, x, 32) INGOT_MULTIPLY(11, 7, 15)
        INGOT_ADD(0, 20, 23) INGOT_MULTIPLY(17, 6, 18) INGOT_LOAD(19, x, 224) INGOT_MULTIPLY(12, 10, 15)
        INGOT_MULTIPLY(19, 8, 18) INGOT_ADD(3, 21, 24) INGOT_ZIP1(8, 9, 13) INGOT_LOAD(18, x, 112)
        INGOT_ADD(1, 22, 23) INGOT_MULTIPLY(14, 7, 18) INGOT_ZIP2(15, 9, 13) INGOT_MULTIPLY(16, 10, 18)
        INGOT_ADD(4, 25, 24) INGOT_LOW(18, 8) INGOT_ADD(2, 26, 23) INGOT_LOAD(9, x, 128) INGOT_MULTIPLY(17, 7, 9)
        INGOT_HIGH(13, 8) INGOT_ADD(5, 27, 24) INGOT_LOW(8, 15) INGOT_MULTIPLY(19, 10, 9) INGOT_HIGH(10, 15)
        INGOT_ASK(ahead, 64) INGOT_LOAD(15, x, 48) INGOT_MULTIPLY(11, 18, 15) INGOT_MULTIPLY(12, 8, 15)
        INGOT_LOAD(6, n0, 16) INGOT_LOAD(7, n0, 48) INGOT_LOAD(15, x, 64) INGOT_MULTIPLY(14, 18, 15)
        INGOT_MULTIPLY(16, 8, 15) INGOT_LOAD(15, x, 144) INGOT_LOAD(9, x, 80) INGOT_MULTIPLY(11, 13, 15)
        INGOT_MULTIPLY(17, 18, 9) INGOT_LOAD_HALVES(18) INGOT_MULTIPLY(12, 10, 15) INGOT_MULTIPLY(19, 8, 9)
        INGOT_ADVANCE_HALF(144, 72, 336)
        "cbnz %[left], 1b\n"
        INGOT_LOAD(15, x, -176) INGOT_MULTIPLY(14, 13, 15) INGOT_MULTIPLY(16, 10, 15) INGOT_WIDEN_LOW(15, 18)
        INGOT_LOAD(18, x, -160) INGOT_MULTIPLY(17, 13, 18) INGOT_MULTIPLY(19, 10, 18) INGOT_LOAD(18, x, -48)
        INGOT_LOAD(20, x, -96) INGOT_ADD(20, 11, 18) INGOT_LOAD(21, x, -96) INGOT_ADD(21, 12, 18)
        INGOT_LOAD(18, x, -32) INGOT_LOAD(22, x, -80) INGOT_ADD(22, 14, 18) INGOT_ZIP1(23, 15, 15)
        INGOT_ZIP2(24, 15, 15) INGOT_LOAD(25, x, -80) INGOT_ADD(25, 16, 18) INGOT_LOAD(18, x, -16)
        INGOT_LOAD(26, x, -64) INGOT_ADD(26, 17, 18) INGOT_LOAD(27, x, -64) INGOT_ADD(27, 19, 18)
        INGOT_ADD(0, 20, 23) INGOT_ADD(3, 21, 24) INGOT_ADD(1, 22, 23) INGOT_ADD(4, 25, 24) INGOT_ADD(2, 26, 23)
        INGOT_ADD(5, 27, 24) INGOT_STORE(0, 1, 0) INGOT_STORE(2, 3, 32) INGOT_STORE(4, 5, 64)
      : [w0] "+r"(w0), [n0] "+r"(n0), [scales] "+r"(scales), [ahead] "+r"(ahead), [x] "+r"(x), [left] "+r"(left),
        [step] "=&r"(step)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}

HWY_INLINE void multiply_half_braid(HalfBraid<BlockQ4_0> weights, std::int64_t blocks, const PairsBlock<4>* x,
                              const std::byte* ahead, HalfBraidTotals<4>& totals) {
  const std::byte *w0 = weights.codes, *n0 = w0, *scales = weights.scales;
  std::int64_t left = blocks, step;
  __asm__ volatile(
        INGOT_CLEAR "movi v31.16b, #15\n" INGOT_TAKE(0, 1, 0) INGOT_TAKE(2, 3, 32) INGOT_TAKE(4, 5, 64)
        INGOT_TAKE(6, 7, 96)
        INGOT_LOAD(8, n0, 16) INGOT_LOAD(9, n0, 48) INGOT_NEXT_ONE(144)
        "1:\n"
        INGOT_ZIP1(10, 8, 9) INGOT_LOAD(22, x, -240) INGOT_MULTIPLY(15, 23, 22) INGOT_ZIP2(11, 8, 9)
        INGOT_MULTIPLY(16, 24, 22) INGOT_LOAD(22, x, -224) INGOT_LOW(8, 10) INGOT_LOAD(12, x, -64)
        INGOT_LOAD(25, x, -128) INGOT_MULTIPLY(17, 23, 22) INGOT_ADD(25, 13, 12) INGOT_MULTIPLY(18, 24, 22)
        INGOT_LOAD(22, x, -128) INGOT_LOW(9, 11) INGOT_LOAD(13, x, -208) INGOT_ADD(22, 14, 12) INGOT_HIGH(12, 10)
        INGOT_ZIP1(26, 21, 21) INGOT_LOAD(14, x, -48) INGOT_LOAD(27, x, -112) INGOT_MULTIPLY(19, 23, 13)
        INGOT_ZIP2(23, 21, 21) INGOT_ADD(27, 15, 14) INGOT_HIGH(10, 11) INGOT_MULTIPLY(20, 24, 13)
        INGOT_LOAD(24, x, -112) INGOT_ADD(24, 16, 14) INGOT_LOAD(13, x, 256) INGOT_LOAD(16, x, -32)
        INGOT_LOAD(21, x, -96) INGOT_LOAD(11, x, 0) INGOT_ADD(21, 17, 16) INGOT_LOAD(14, x, 256)
        INGOT_MULTIPLY(13, 8, 11) INGOT_LOAD(28, x, -96) INGOT_ASK(ahead, 0) INGOT_ADD(28, 18, 16)
        INGOT_MULTIPLY(14, 9, 11) INGOT_ADD(0, 25, 26) INGOT_LOAD(15, x, 272) INGOT_LOAD(25, x, -16)
        INGOT_LOAD(29, x, -80) INGOT_LOAD(11, x, 16) INGOT_ADD(29, 19, 25) INGOT_LOAD(16, x, 272)
        INGOT_ADD(4, 22, 23) INGOT_MULTIPLY(15, 8, 11) INGOT_LOAD(22, x, -80) INGOT_ADD(22, 20, 25)
        INGOT_MULTIPLY(16, 9, 11) INGOT_LOAD(17, x, 288) INGOT_ADD(1, 27, 26) INGOT_LOAD(11, x, 32)
        INGOT_LOAD(18, x, 288) INGOT_ADD(5, 24, 23) INGOT_MULTIPLY(17, 8, 11) INGOT_MULTIPLY(18, 9, 11)
        INGOT_LOAD(19, x, 304) INGOT_ADD(2, 21, 26) INGOT_LOAD(11, x, 48) INGOT_LOAD(20, x, 304) INGOT_ADD(6, 28, 23)
        INGOT_MULTIPLY(19, 8, 11) INGOT_LOAD(8, w0, 80) INGOT_MULTIPLY(20, 9, 11) INGOT_LOAD(9, x, 128)
        INGOT_ADD(3, 29, 26) INGOT_LOAD(11, w0, 112) INGOT_MULTIPLY(13, 12, 9) INGOT_ADD(7, 22, 23)
        INGOT_MULTIPLY(14, 10, 9) INGOT_ZIP1(9, 8, 11) INGOT_LOAD(21, x, 144) INGOT_MULTIPLY(15, 12, 21)
        INGOT_ZIP2(22, 8, 11) INGOT_MULTIPLY(16, 10, 21) INGOT_LOAD(21, x, 160) INGOT_LOW(8, 9)
        INGOT_MULTIPLY(17, 12, 21) INGOT_MULTIPLY(18, 10, 21) INGOT_LOW(21, 22) INGOT_LOAD(11, x, 176)
        INGOT_HIGH(23, 9) INGOT_MULTIPLY(19, 12, 11) INGOT_HIGH(24, 22) INGOT_MULTIPLY(20, 10, 11)
        INGOT_LOAD(10, x, 64) INGOT_MULTIPLY(13, 8, 10) INGOT_ASK(ahead, 64) INGOT_MULTIPLY(14, 21, 10)
        INGOT_LOAD(10, x, 80) INGOT_MULTIPLY(15, 8, 10) INGOT_MULTIPLY(16, 21, 10) INGOT_LOAD(10, x, 96)
        INGOT_MULTIPLY(17, 8, 10) INGOT_MULTIPLY(18, 21, 10) INGOT_LOAD_HALVES(10) INGOT_LOAD(11, x, 112)
        INGOT_MULTIPLY(19, 8, 11) INGOT_LOAD(8, n0, 16) INGOT_MULTIPLY(20, 21, 11) INGOT_LOAD(11, x, 192)
        INGOT_LOAD(9, n0, 48) INGOT_MULTIPLY(13, 23, 11) INGOT_MULTIPLY(14, 24, 11) INGOT_WIDEN_LOW(21, 10)
        INGOT_ADVANCE_HALF(144, 72, 448)
        "cbnz %[left], 1b\n"
        INGOT_LOAD(22, x, -240) INGOT_MULTIPLY(15, 23, 22) INGOT_MULTIPLY(16, 24, 22) INGOT_LOAD(22, x, -224)
        INGOT_LOAD(12, x, -64) INGOT_LOAD(25, x, -128) INGOT_MULTIPLY(17, 23, 22) INGOT_ADD(25, 13, 12)
        INGOT_MULTIPLY(18, 24, 22) INGOT_LOAD(22, x, -128) INGOT_LOAD(13, x, -208) INGOT_ADD(22, 14, 12)
        INGOT_ZIP1(26, 21, 21) INGOT_LOAD(14, x, -48) INGOT_LOAD(27, x, -112) INGOT_MULTIPLY(19, 23, 13)
        INGOT_ZIP2(23, 21, 21) INGOT_ADD(27, 15, 14) INGOT_MULTIPLY(20, 24, 13) INGOT_LOAD(24, x, -112)
        INGOT_ADD(24, 16, 14) INGOT_LOAD(16, x, -32) INGOT_LOAD(21, x, -96) INGOT_ADD(21, 17, 16)
        INGOT_LOAD(28, x, -96) INGOT_ADD(28, 18, 16) INGOT_ADD(0, 25, 26) INGOT_LOAD(25, x, -16)
        INGOT_LOAD(29, x, -80) INGOT_ADD(29, 19, 25) INGOT_ADD(4, 22, 23) INGOT_LOAD(22, x, -80)
        INGOT_ADD(22, 20, 25) INGOT_ADD(1, 27, 26) INGOT_ADD(5, 24, 23) INGOT_ADD(2, 21, 26) INGOT_ADD(6, 28, 23)
        INGOT_ADD(3, 29, 26) INGOT_ADD(7, 22, 23) INGOT_STORE(0, 1, 0) INGOT_STORE(2, 3, 32) INGOT_STORE(4, 5, 64)
        INGOT_STORE(6, 7, 96)
      : [w0] "+r"(w0), [n0] "+r"(n0), [scales] "+r"(scales), [ahead] "+r"(ahead), [x] "+r"(x), [left] "+r"(left),
        [step] "=&r"(step)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}
// clang-format on
