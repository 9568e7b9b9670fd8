// Panels of bytes in registers of 256 bits, four neighbouring codes of a row (a quad) in a 32-bit lane: lane j is row j
// or j + 8 of x, a quad of a weight row reaches all lanes by a broadcast. For block formats and for plain bytes. Part
// of a source.

// Eight registers of eight 32-bit numbers: row i becomes column i.
HWY_INLINE void transpose(__m256i (&rows)[8]) {
  __m256i pairs[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {  // rows[i + c]: columns c and c + 4, rows i to i + 3
    rows[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
    rows[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
    rows[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    rows[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    const __m256i low = _mm256_permute2x128_si256(rows[c], rows[4 + c], 0x20);
    rows[4 + c] = _mm256_permute2x128_si256(rows[c], rows[4 + c], 0x31);
    rows[c] = low;
  }
}

HWY_INLINE __m256i load_lanes(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }
HWY_INLINE void store_lanes(void* to, __m256i lanes) { _mm256_store_si256(static_cast<__m256i*>(to), lanes); }
HWY_INLINE __m256i four_codes(const std::int8_t* codes) {
  std::int32_t word;
  std::memcpy(&word, codes, sizeof(word));
  return _mm256_set1_epi32(word);
}

// 64 codes of sixteen rows, from `at` on, as quads of all rows.
HWY_INLINE void place_quads(const PanelStep& codes, int at, std::int8_t* to) {
  for (int half = 0; half < 2; ++half) {
    for (int first = 0; first < 16; first += 8) {
      __m256i rows[8];
      for (int row = 0; row < 8; ++row) rows[row] = load_lanes(codes[8 * half + row] + at + 4 * first);
      transpose(rows);
      for (int i = 0; i < 8; ++i) store_lanes(to + 32 * half + 64 * (first + i), rows[i]);
    }
  }
}

// `chain_quads` quads of four rows of weights by sixteen rows of x: eight chains of sums, two registers of x, and one
// of weights at a time. Bytes::add multiplies two quads in each lane and adds to the chain.
template <class Bytes, int chain_quads, std::size_t length>
HWY_INLINE void add_quads(const std::int8_t (*weights)[length], const std::int8_t* x, std::int64_t at,
                          __m256i (&chains)[4][2]) {
#pragma GCC unroll 8
  for (int quad = 0; quad < chain_quads; ++quad) {
    const std::int8_t* codes = x + (at + 4 * quad) * panel_rows;
    const __m256i rows[2] = {load_lanes(codes), load_lanes(codes + 32)};
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      __m256i& chain = chains[i / 2][i % 2];
      chain = Bytes::add(chain, four_codes(weights[i / 2] + at + 4 * quad), rows[i % 2]);
      asm("" : "+x"(chain));  // else GCC sums in another order, and keeps all products in memory first
    }
  }
}
