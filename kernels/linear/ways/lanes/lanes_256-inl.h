// Lanes of 256-bit registers. Part of a source, inside its target attributes and an unnamed namespace of its own.
struct Lanes {
  using Integers = __m256i;
  using Floats = __m256;
  static constexpr int count = 8;

  static HWY_INLINE Integers load(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }
  static HWY_INLINE void store(void* to, Integers v) { _mm256_store_si256(static_cast<__m256i*>(to), v); }
  static HWY_INLINE Floats load_floats(const float* from) { return _mm256_load_ps(from); }
  static HWY_INLINE void store_floats(float* to, Floats v) { _mm256_store_ps(to, v); }
  static HWY_INLINE Floats load_any_floats(const float* from) { return _mm256_loadu_ps(from); }
  static HWY_INLINE void store_any_floats(float* to, Floats v) { _mm256_storeu_ps(to, v); }
  static HWY_INLINE Integers words(int v) { return _mm256_set1_epi32(v); }
  static HWY_INLINE Integers bytes(int v) { return _mm256_set1_epi8(static_cast<char>(v)); }
  static HWY_INLINE Integers sixteen_bytes(const void* from) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  static HWY_INLINE Floats floats(float v) { return _mm256_set1_ps(v); }

  static HWY_INLINE Integers both(Integers a, Integers b) { return _mm256_and_si256(a, b); }
  static HWY_INLINE Integers either(Integers a, Integers b) { return _mm256_or_si256(a, b); }
  static HWY_INLINE Integers add(Integers a, Integers b) { return _mm256_add_epi32(a, b); }
  static HWY_INLINE Integers add_bytes(Integers a, Integers b) { return _mm256_add_epi8(a, b); }
  template <int bits>
  static HWY_INLINE Integers right(Integers v) {
    return _mm256_srli_epi32(v, bits);
  }
  template <int bits>
  static HWY_INLINE Integers left(Integers v) {
    return _mm256_slli_epi32(v, bits);
  }
  template <int bits>
  static HWY_INLINE Integers signed_right(Integers v) {
    return _mm256_srai_epi32(v, bits);
  }
  static HWY_INLINE Integers look_up(Integers table, Integers at) { return _mm256_shuffle_epi8(table, at); }
  // codes, with `value` set in bytes that have one of the tested bits.
  static HWY_INLINE Integers set_where(Integers codes, Integers bits, Integers tested, int value) {
    const Integers unset = _mm256_cmpeq_epi8(both(bits, tested), _mm256_setzero_si256());
    return either(codes, _mm256_andnot_si256(unset, bytes(value)));
  }

  static HWY_INLINE Floats same_bits(Integers v) { return _mm256_castsi256_ps(v); }
  static HWY_INLINE Floats to_floats(Integers v) { return _mm256_cvtepi32_ps(v); }
  static HWY_INLINE Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static HWY_INLINE Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static HWY_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static HWY_INLINE Floats subtract_product(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }

  static HWY_INLINE Floats from_halves(const std::uint16_t* halves) {
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves)));
  }
  // The lower half of each word.
  static HWY_INLINE Floats from_lower_halves(Integers v) {
    const Integers lower = both(v, words(0xffff));
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(lower), _mm256_extracti128_si256(lower, 1));
    return _mm256_cvtph_ps(packed);
  }
  static HWY_INLINE Integers widen(const std::uint16_t* from) {
    return _mm256_cvtepu16_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static HWY_INLINE Integers left_by(Integers v, Integers bits) { return _mm256_sllv_epi32(v, bits); }
  static HWY_INLINE Integers where_less(Integers a, Integers b, Integers then, Integers otherwise) {
    return _mm256_blendv_epi8(otherwise, then, _mm256_cmpgt_epi32(b, a));
  }

  // Sixteen bytes, from `offset` on, of rows `row` and `row` + 4.
  template <class Rows>
  static HWY_INLINE Integers load_rows(const Rows& rows, std::int64_t offset, int row) {
    auto at = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows.row(row + i) + offset)); };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(at(0)), at(4), 1);
  }
  static HWY_INLINE Integers lower_words(Integers a, Integers b) { return _mm256_unpacklo_epi32(a, b); }
  static HWY_INLINE Integers upper_words(Integers a, Integers b) { return _mm256_unpackhi_epi32(a, b); }
  static HWY_INLINE Integers lower_pairs(Integers a, Integers b) { return _mm256_unpacklo_epi64(a, b); }
  static HWY_INLINE Integers upper_pairs(Integers a, Integers b) { return _mm256_unpackhi_epi64(a, b); }
};
