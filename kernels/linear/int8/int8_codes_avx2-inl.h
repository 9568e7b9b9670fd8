// Bytes on their way into panels, by 256 bits. Part of a source.

// `count` bytes, a multiple of 32, each by exclusive or with `flip` a signed code, as keep(to, codes) keeps them.
// Returns the sum of the codes.
template <class Keep>
HWY_INLINE std::int32_t copy_codes(const std::byte* from, std::int64_t count, std::uint8_t flip, Keep keep) {
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
  __m256i sums = _mm256_setzero_si256();  // of codes + 128, which lie together in bytes
  for (std::int64_t at = 0; at < count; at += 32) {
    const __m256i codes = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)), flips);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_xor_si256(codes, sign), _mm256_setzero_si256()));
    keep(at, codes);
  }
  alignas(32) std::int64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), sums);
  return static_cast<std::int32_t>(parts[0] + parts[1] + parts[2] + parts[3] - 128 * count);
}

HWY_INLINE std::int32_t copy_signed(const std::byte* from, std::int64_t count, std::uint8_t flip, std::int8_t* to) {
  return copy_codes(from, count, flip, [&](std::int64_t at, __m256i codes) __attribute__((always_inline)) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + at), codes);
  });
}

// Weights where rows lie as the product reads them.
struct RowPanel {
  alignas(64) Int8Rows codes;
};
struct RowPanels {
  using Panel = RowPanel;
  static HWY_INLINE Int8Rows& rows(Panel& panel, Int8Rows&) { return panel.codes; }
  static HWY_INLINE void order(const Int8Rows&, std::int64_t, Panel&) {}
};
