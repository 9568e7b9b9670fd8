// Four rows of interleaved Q8_0 weights times three or four pairs of rows of x (half_braids_neon-inl.h): part of
// a source. The order is by time, as in q4_0_half_braids_neon-inl.h.

// clang-format off
HWY_INLINE void multiply_half_braid(HalfBraid<BlockQ8_0> weights, std::int64_t blocks, const PairsBlock<3>* x,
                              const std::byte* ahead, HalfBraidTotals<3>& totals) {
  const std::byte *w0 = weights.codes, *n0 = w0, *scales = weights.scales;
  std::int64_t left = blocks, step;
  __asm__ volatile(
        INGOT_CLEAR INGOT_TAKE(0, 1, 0) INGOT_TAKE(2, 3, 32) INGOT_TAKE(4, 5, 64)
        INGOT_LOAD(6, n0, 16) INGOT_LOAD(7, n0, 48) INGOT_NEXT_ONE(272)
        "1:\n"
        INGOT_ZIP1(8, 6, 7) INGOT_MULTIPLY(13, 16, 10) INGOT_LOAD(21, x, -176) INGOT_LOAD(9, w0, 80)
        INGOT_WIDEN_LOW(22, 15) INGOT_MULTIPLY(14, 17, 21) INGOT_LOAD(10, w0, 112) INGOT_ZIP2(11, 6, 7)
        INGOT_MULTIPLY(18, 16, 21) INGOT_LOAD(21, x, -48) INGOT_LOAD(23, x, -96) INGOT_LOAD(6, x, -160)
        INGOT_ADD(23, 12, 21) INGOT_MULTIPLY(19, 17, 6) INGOT_ASK(ahead, 0) INGOT_LOAD(24, x, -96)
        INGOT_MULTIPLY(20, 16, 6) INGOT_ADD(24, 13, 21) INGOT_LOAD(12, x, 192) INGOT_LOAD(6, x, 0)
        INGOT_MULTIPLY(12, 8, 6) INGOT_LOAD(21, x, -32) INGOT_LOAD(25, x, -80) INGOT_LOAD(13, x, 192)
        INGOT_ZIP1(7, 9, 10) INGOT_ZIP1(26, 22, 22) INGOT_ADD(25, 14, 21) INGOT_MULTIPLY(13, 11, 6)
        INGOT_ZIP2(27, 22, 22) INGOT_LOAD(22, x, -80) INGOT_LOAD(14, x, 208) INGOT_LOAD(6, x, 16)
        INGOT_LOAD(15, w0, 144) INGOT_ADD(22, 18, 21) INGOT_MULTIPLY(14, 8, 6) INGOT_LOAD(16, w0, 176)
        INGOT_ZIP2(17, 9, 10) INGOT_LOAD(18, x, 208) INGOT_LOAD(9, x, -16) INGOT_LOAD(21, x, -64)
        INGOT_MULTIPLY(18, 11, 6) INGOT_ADD(21, 19, 9) INGOT_LOAD(19, x, 224) INGOT_LOAD(6, x, 32)
        INGOT_ADD(0, 23, 26) INGOT_LOAD(23, x, -64) INGOT_MULTIPLY(19, 8, 6) INGOT_ADD(23, 20, 9)
        INGOT_LOAD(20, x, 224) INGOT_MULTIPLY(20, 11, 6) INGOT_ADD(3, 24, 27) INGOT_LOAD(6, x, 48)
        INGOT_MULTIPLY(12, 7, 6) INGOT_ZIP1(11, 15, 16) INGOT_ASK(ahead, 64) INGOT_ADD(1, 25, 26)
        INGOT_MULTIPLY(13, 17, 6) INGOT_LOAD(6, x, 64) INGOT_LOAD(8, w0, 208) INGOT_ADD(4, 22, 27)
        INGOT_MULTIPLY(14, 7, 6) INGOT_LOAD(9, w0, 240) INGOT_ZIP2(10, 15, 16) INGOT_MULTIPLY(18, 17, 6)
        INGOT_ADD(2, 21, 26) INGOT_LOAD(6, x, 80) INGOT_MULTIPLY(19, 7, 6) INGOT_ADD(5, 23, 27)
        INGOT_MULTIPLY(20, 17, 6) INGOT_LOAD(6, x, 96) INGOT_MULTIPLY(12, 11, 6) INGOT_ZIP1(17, 8, 9)
        INGOT_MULTIPLY(13, 10, 6) INGOT_LOAD(15, x, 112) INGOT_LOAD(6, n0, 16) INGOT_MULTIPLY(14, 11, 15)
        INGOT_LOAD(7, n0, 48) INGOT_ASK(ahead, 128) INGOT_ZIP2(16, 8, 9) INGOT_MULTIPLY(18, 10, 15)
        INGOT_LOAD(15, x, 128) INGOT_MULTIPLY(19, 11, 15) INGOT_MULTIPLY(20, 10, 15) INGOT_LOAD(10, x, 144)
        INGOT_MULTIPLY(12, 17, 10) INGOT_LOAD_HALVES(15)
        INGOT_ADVANCE_HALF(272, 136, 336)
        "cbnz %[left], 1b\n"
        INGOT_MULTIPLY(13, 16, 10) INGOT_LOAD(21, x, -176) INGOT_WIDEN_LOW(22, 15) INGOT_MULTIPLY(14, 17, 21)
        INGOT_MULTIPLY(18, 16, 21) INGOT_LOAD(21, x, -48) INGOT_LOAD(23, x, -96) INGOT_LOAD(6, x, -160)
        INGOT_ADD(23, 12, 21) INGOT_MULTIPLY(19, 17, 6) INGOT_LOAD(24, x, -96) INGOT_MULTIPLY(20, 16, 6)
        INGOT_ADD(24, 13, 21) INGOT_LOAD(21, x, -32) INGOT_LOAD(25, x, -80) INGOT_ZIP1(26, 22, 22)
        INGOT_ADD(25, 14, 21) INGOT_ZIP2(27, 22, 22) INGOT_LOAD(22, x, -80) INGOT_ADD(22, 18, 21)
        INGOT_LOAD(9, x, -16) INGOT_LOAD(21, x, -64) INGOT_ADD(21, 19, 9) INGOT_ADD(0, 23, 26) INGOT_LOAD(23, x, -64)
        INGOT_ADD(23, 20, 9) INGOT_ADD(3, 24, 27) INGOT_ADD(1, 25, 26) INGOT_ADD(4, 22, 27) INGOT_ADD(2, 21, 26)
        INGOT_ADD(5, 23, 27) INGOT_STORE(0, 1, 0) INGOT_STORE(2, 3, 32) INGOT_STORE(4, 5, 64)
      : [w0] "+r"(w0), [n0] "+r"(n0), [scales] "+r"(scales), [ahead] "+r"(ahead), [x] "+r"(x), [left] "+r"(left),
        [step] "=&r"(step)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}

HWY_INLINE void multiply_half_braid(HalfBraid<BlockQ8_0> weights, std::int64_t blocks, const PairsBlock<4>* x,
                              const std::byte* ahead, HalfBraidTotals<4>& totals) {
  const std::byte *w0 = weights.codes, *n0 = w0, *scales = weights.scales;
  std::int64_t left = blocks, step;
  __asm__ volatile(
        INGOT_CLEAR INGOT_TAKE(0, 1, 0) INGOT_TAKE(2, 3, 32) INGOT_TAKE(4, 5, 64) INGOT_TAKE(6, 7, 96)
        INGOT_LOAD(8, n0, 16) INGOT_LOAD(9, n0, 48) INGOT_NEXT_ONE(272)
        "1:\n"
        INGOT_ZIP1(10, 8, 9) INGOT_MULTIPLY(17, 22, 12) INGOT_MULTIPLY(19, 23, 12) INGOT_ADD(25, 13, 24)
        INGOT_ZIP2(11, 8, 9) INGOT_LOAD(26, x, -128) INGOT_LOAD(8, x, -208) INGOT_ADD(26, 14, 24)
        INGOT_ZIP1(24, 18, 18) INGOT_LOAD(27, x, -48) INGOT_LOAD(28, x, -112) INGOT_MULTIPLY(20, 22, 8)
        INGOT_ZIP2(22, 18, 18) INGOT_MULTIPLY(21, 23, 8) INGOT_LOAD(8, x, 0) INGOT_LOAD(9, w0, 80)
        INGOT_ADD(28, 15, 27) INGOT_LOAD(12, w0, 112) INGOT_LOAD(13, x, 256) INGOT_LOAD(14, x, 256)
        INGOT_LOAD(23, x, -112) INGOT_MULTIPLY(13, 10, 8) INGOT_MULTIPLY(14, 11, 8) INGOT_ADD(23, 16, 27)
        INGOT_LOAD(27, x, -32) INGOT_LOAD(29, x, -96) INGOT_LOAD(8, x, 16) INGOT_ASK(ahead, 0) INGOT_LOAD(15, x, 272)
        INGOT_ADD(0, 25, 24) INGOT_ADD(29, 17, 27) INGOT_LOAD(16, x, 272) INGOT_MULTIPLY(15, 10, 8)
        INGOT_MULTIPLY(16, 11, 8) INGOT_LOAD(25, x, -96) INGOT_ADD(4, 26, 22) INGOT_ADD(25, 19, 27)
        INGOT_LOAD(8, x, 32) INGOT_LOAD(27, x, -16) INGOT_LOAD(26, x, -80) INGOT_LOAD(17, x, 288)
        INGOT_ZIP1(18, 9, 12) INGOT_LOAD(19, x, 288) INGOT_MULTIPLY(17, 10, 8) INGOT_ADD(1, 28, 24)
        INGOT_ADD(26, 20, 27) INGOT_MULTIPLY(19, 11, 8) INGOT_ZIP2(8, 9, 12) INGOT_LOAD(12, x, -80)
        INGOT_LOAD(9, x, 48) INGOT_ADD(5, 23, 22) INGOT_ADD(12, 21, 27) INGOT_LOAD(20, x, 304) INGOT_LOAD(21, x, 304)
        INGOT_MULTIPLY(20, 10, 9) INGOT_MULTIPLY(21, 11, 9) INGOT_LOAD(9, x, 64) INGOT_ADD(2, 29, 24)
        INGOT_LOAD(11, w0, 144) INGOT_LOAD(10, w0, 176) INGOT_MULTIPLY(13, 18, 9) INGOT_MULTIPLY(14, 8, 9)
        INGOT_ADD(6, 25, 22) INGOT_LOAD(9, x, 80) INGOT_ADD(3, 26, 24) INGOT_MULTIPLY(15, 18, 9)
        INGOT_MULTIPLY(16, 8, 9) INGOT_ADD(7, 12, 22) INGOT_LOAD(9, x, 96) INGOT_ZIP1(12, 11, 10)
        INGOT_ASK(ahead, 64) INGOT_MULTIPLY(17, 18, 9) INGOT_MULTIPLY(19, 8, 9) INGOT_ZIP2(9, 11, 10)
        INGOT_LOAD(10, x, 112) INGOT_MULTIPLY(20, 18, 10) INGOT_MULTIPLY(21, 8, 10) INGOT_LOAD(8, x, 128)
        INGOT_LOAD(10, w0, 208) INGOT_LOAD(18, w0, 240) INGOT_MULTIPLY(13, 12, 8) INGOT_MULTIPLY(14, 9, 8)
        INGOT_LOAD(8, x, 144) INGOT_MULTIPLY(15, 12, 8) INGOT_MULTIPLY(16, 9, 8) INGOT_LOAD(8, x, 160)
        INGOT_ZIP1(22, 10, 18) INGOT_MULTIPLY(17, 12, 8) INGOT_MULTIPLY(19, 9, 8) INGOT_ZIP2(23, 10, 18)
        INGOT_LOAD(10, x, 176) INGOT_MULTIPLY(20, 12, 10) INGOT_ASK(ahead, 128) INGOT_MULTIPLY(21, 9, 10)
        INGOT_LOAD_HALVES(10) INGOT_LOAD(12, x, 192) INGOT_LOAD(8, n0, 16) INGOT_LOAD(9, n0, 48)
        INGOT_MULTIPLY(13, 22, 12) INGOT_WIDEN_LOW(18, 10) INGOT_MULTIPLY(14, 23, 12) INGOT_LOAD(12, x, 208)
        INGOT_MULTIPLY(15, 22, 12) INGOT_MULTIPLY(16, 23, 12) INGOT_LOAD(12, x, 224) INGOT_LOAD(24, x, 384)
        INGOT_LOAD(25, x, 320)
        INGOT_ADVANCE_HALF(272, 136, 448)
        "cbnz %[left], 1b\n"
        INGOT_MULTIPLY(17, 22, 12) INGOT_MULTIPLY(19, 23, 12) INGOT_ADD(25, 13, 24) INGOT_LOAD(26, x, -128)
        INGOT_LOAD(8, x, -208) INGOT_ADD(26, 14, 24) INGOT_ZIP1(24, 18, 18) INGOT_LOAD(27, x, -48)
        INGOT_LOAD(28, x, -112) INGOT_MULTIPLY(20, 22, 8) INGOT_ZIP2(22, 18, 18) INGOT_MULTIPLY(21, 23, 8)
        INGOT_ADD(28, 15, 27) INGOT_LOAD(23, x, -112) INGOT_ADD(23, 16, 27) INGOT_LOAD(27, x, -32)
        INGOT_LOAD(29, x, -96) INGOT_ADD(0, 25, 24) INGOT_ADD(29, 17, 27) INGOT_LOAD(25, x, -96) INGOT_ADD(4, 26, 22)
        INGOT_ADD(25, 19, 27) INGOT_LOAD(27, x, -16) INGOT_LOAD(26, x, -80) INGOT_ADD(1, 28, 24)
        INGOT_ADD(26, 20, 27) INGOT_LOAD(12, x, -80) INGOT_ADD(5, 23, 22) INGOT_ADD(12, 21, 27) INGOT_ADD(2, 29, 24)
        INGOT_ADD(6, 25, 22) INGOT_ADD(3, 26, 24) INGOT_ADD(7, 12, 22) INGOT_STORE(0, 1, 0) INGOT_STORE(2, 3, 32)
        INGOT_STORE(4, 5, 64) INGOT_STORE(6, 7, 96)
      : [w0] "+r"(w0), [n0] "+r"(n0), [scales] "+r"(scales), [ahead] "+r"(ahead), [x] "+r"(x), [left] "+r"(left),
        [step] "=&r"(step)
      : [totals] "r"(&totals)
      : "cc", "memory", INGOT_EVERY_VECTOR);
}
// clang-format on
