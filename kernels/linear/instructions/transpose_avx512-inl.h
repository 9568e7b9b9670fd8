// Part of a source, inside its target attributes and an unnamed namespace of its own.

// Sixteen registers of sixteen 32-bit numbers: row i becomes column i.
HWY_INLINE void transpose(__m512i (&rows)[16]) {
  __m512i pairs[16];
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {  // rows[i + c]: column c of each quarter, rows i to i + 3
    rows[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    pairs[c] = _mm512_shuffle_i32x4(rows[c], rows[4 + c], 0x88);      // quarters 0 and 2 of both
    pairs[4 + c] = _mm512_shuffle_i32x4(rows[c], rows[4 + c], 0xdd);  // 1 and 3
    pairs[8 + c] = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], 0x88);
    pairs[12 + c] = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], 0xdd);
  }
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm512_shuffle_i32x4(pairs[c], pairs[8 + c], 0x88);
    rows[4 + c] = _mm512_shuffle_i32x4(pairs[4 + c], pairs[12 + c], 0x88);
    rows[8 + c] = _mm512_shuffle_i32x4(pairs[c], pairs[8 + c], 0xdd);
    rows[12 + c] = _mm512_shuffle_i32x4(pairs[4 + c], pairs[12 + c], 0xdd);
  }
}
