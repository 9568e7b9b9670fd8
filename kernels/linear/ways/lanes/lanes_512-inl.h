// Lanes of 512-bit registers. Part of a source, inside its target attributes and an unnamed namespace of its own.
struct Lanes {
  using Integers = __m512i;
  using Floats = __m512;
  static constexpr int count = 16;

  static HWY_INLINE Integers load(const void* from) { return _mm512_load_si512(from); }
  static HWY_INLINE void store(void* to, Integers v) { _mm512_store_si512(to, v); }
  static HWY_INLINE Floats load_floats(const float* from) { return _mm512_load_ps(from); }
  static HWY_INLINE void store_floats(float* to, Floats v) { _mm512_store_ps(to, v); }
  static HWY_INLINE Floats load_any_floats(const float* from) { return _mm512_loadu_ps(from); }
  static HWY_INLINE void store_any_floats(float* to, Floats v) { _mm512_storeu_ps(to, v); }
  static HWY_INLINE Integers words(int v) { return _mm512_set1_epi32(v); }
  static HWY_INLINE Integers bytes(int v) { return _mm512_set1_epi8(static_cast<char>(v)); }
  static HWY_INLINE Integers sixteen_bytes(const void* from) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  static HWY_INLINE Floats floats(float v) { return _mm512_set1_ps(v); }

  static HWY_INLINE Integers both(Integers a, Integers b) { return _mm512_and_si512(a, b); }
  static HWY_INLINE Integers either(Integers a, Integers b) { return _mm512_or_si512(a, b); }
  static HWY_INLINE Integers add(Integers a, Integers b) { return _mm512_add_epi32(a, b); }
  static HWY_INLINE Integers add_bytes(Integers a, Integers b) { return _mm512_add_epi8(a, b); }
  template <int bits>
  static HWY_INLINE Integers right(Integers v) {
    return _mm512_srli_epi32(v, bits);
  }
  template <int bits>
  static HWY_INLINE Integers left(Integers v) {
    return _mm512_slli_epi32(v, bits);
  }
  template <int bits>
  static HWY_INLINE Integers signed_right(Integers v) {
    return _mm512_srai_epi32(v, bits);
  }
  static HWY_INLINE Integers look_up(Integers table, Integers at) { return _mm512_shuffle_epi8(table, at); }
  // codes, with `value` added in bytes that have one of the tested bits.
  static HWY_INLINE Integers set_where(Integers codes, Integers bits, Integers tested, int value) {
    const __mmask64 set = _mm512_test_epi8_mask(bits, tested);
    return _mm512_mask_add_epi8(codes, set, codes, bytes(value));
  }

  static HWY_INLINE Floats same_bits(Integers v) { return _mm512_castsi512_ps(v); }
  static HWY_INLINE Floats to_floats(Integers v) { return _mm512_cvtepi32_ps(v); }
  static HWY_INLINE Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static HWY_INLINE Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static HWY_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static HWY_INLINE Floats subtract_product(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }

  static HWY_INLINE Floats from_halves(const std::uint16_t* halves) {
    return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(halves)));
  }
  // The lower half of each word.
  static HWY_INLINE Floats from_lower_halves(Integers v) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)); }
  static HWY_INLINE Integers widen(const std::uint16_t* from) {
    return _mm512_cvtepu16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static HWY_INLINE Integers left_by(Integers v, Integers bits) { return _mm512_sllv_epi32(v, bits); }
  static HWY_INLINE Integers where_less(Integers a, Integers b, Integers then, Integers otherwise) {
    return _mm512_mask_blend_epi32(_mm512_cmplt_epi32_mask(a, b), otherwise, then);
  }

  // Sixteen bytes, from `offset` on, of rows `row`, `row` + 4, + 8 and + 12.
  template <class Rows>
  static HWY_INLINE Integers load_rows(const Rows& rows, std::int64_t offset, int row) {
    auto at = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows.row(row + i) + offset)); };
    Integers all = _mm512_castsi128_si512(at(0));
    all = _mm512_inserti32x4(all, at(4), 1);
    all = _mm512_inserti32x4(all, at(8), 2);
    return _mm512_inserti32x4(all, at(12), 3);
  }
  static HWY_INLINE Integers lower_words(Integers a, Integers b) { return _mm512_unpacklo_epi32(a, b); }
  static HWY_INLINE Integers upper_words(Integers a, Integers b) { return _mm512_unpackhi_epi32(a, b); }
  static HWY_INLINE Integers lower_pairs(Integers a, Integers b) { return _mm512_unpacklo_epi64(a, b); }
  static HWY_INLINE Integers upper_pairs(Integers a, Integers b) { return _mm512_unpackhi_epi64(a, b); }
};
