// VPDPBUSD of 512 bits: an unsigned byte times a signed one, four of them into a 32-bit lane. Lane j is row j of x,
// made unsigned by an offset; four codes of a weight row reach all lanes by a broadcast that costs nothing. For panels
// of block formats and of plain bytes. Part of a source.

constexpr int offset = 128;

HWY_INLINE __m512i four_codes(const std::int8_t* codes) {
  std::int32_t word;
  std::memcpy(&word, codes, sizeof(word));
  return _mm512_set1_epi32(word);
}

// 32 codes of each of sixteen rows of x, plus the offset.
struct UnsignedRows {
  __m512i quads[8];
  explicit HWY_INLINE UnsignedRows(const std::int8_t* x) {
    for (int i = 0; i < 8; ++i) {
      quads[i] = _mm512_xor_si512(_mm512_load_si512(x + 64 * i), _mm512_set1_epi8(static_cast<char>(offset)));
    }
  }
  HWY_INLINE __m512i multiply(const std::int8_t* weights, __m512i sum) const {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) sum = _mm512_dpbusd_epi32(sum, quads[i], four_codes(weights + 4 * i));
    return sum;
  }
};
