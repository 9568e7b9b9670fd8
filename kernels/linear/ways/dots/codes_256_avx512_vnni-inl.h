// Formats of 256 elements: a block is four registers of codes. Part of gemm_codes_avx512_vnni.cc, inside its target
// attributes.
//
// A lane of a byte dot product is below 2^15 in every format but iq4_xs, so two registers of them pack to 16 bits and
// meet their groups' integer scales in a word dot product. A whole block stays in integers (below 2^24) and becomes a
// float once.

// Byte shuffles that put a group's scale into the upper byte of the words that its sums pack to.
template <class Block>
struct ScaleShuffles {
  alignas(64) std::uint8_t bytes[2][64];
  constexpr ScaleShuffles() : bytes() {
    for (int pair = 0; pair < 2; ++pair) {
      for (int word = 0; word < 32; ++word) {
        const int sixteen = CodedOrder<Block>::sixteens[8 * pair + (word % 8 < 4 ? 0 : 4) + word / 8];
        bytes[pair][2 * word] = 0x80;  // zero
        bytes[pair][2 * word + 1] = static_cast<std::uint8_t>(sixteen * 16 / Block::group);
      }
    }
  }
};
template <class Block>
constexpr ScaleShuffles<Block> scale_shuffles;

struct Codes256 {
  __m512i codes[4];
};

HWY_INLINE __m512i load_64(const std::uint8_t* from) { return _mm512_loadu_si512(from); }
HWY_INLINE __m512i load_32_twice(const std::uint8_t* from) {
  return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
// The 32 lower bytes by one value and the 32 upper ones by another.
HWY_INLINE __m512i lower_and_upper(int lower, int upper) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set1_epi8(static_cast<char>(lower))),
                            _mm256_set1_epi8(static_cast<char>(upper)), 1);
}
HWY_INLINE __m512i or_where(__m512i codes, __m512i bits, __m512i tested, int value) {
  const __mmask64 set = _mm512_test_epi8_mask(bits, tested);
  return _mm512_mask_add_epi8(codes, set, codes, _mm512_set1_epi8(static_cast<char>(value)));
}

HWY_INLINE Codes256 load_nibbles(const std::uint8_t (&low)[128]) {
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i first = load_64(low);
  const __m512i second = load_64(low + 64);
  return {{_mm512_and_si512(first, mask), _mm512_and_si512(_mm512_srli_epi16(first, 4), mask),
           _mm512_and_si512(second, mask), _mm512_and_si512(_mm512_srli_epi16(second, 4), mask)}};
}
HWY_INLINE Codes256 load_two_bits(const std::uint8_t (&low)[64]) {
  const __m512i mask = _mm512_set1_epi8(3);
  const __m512i all = load_64(low);
  return {{_mm512_and_si512(all, mask), _mm512_and_si512(_mm512_srli_epi16(all, 2), mask),
           _mm512_and_si512(_mm512_srli_epi16(all, 4), mask), _mm512_and_si512(_mm512_srli_epi16(all, 6), mask)}};
}

HWY_INLINE Codes256 load_codes(const BlockQ4_K& block) { return load_nibbles(block.low); }
HWY_INLINE Codes256 load_codes(const BlockQ2_K& block) { return load_two_bits(block.low); }
HWY_INLINE Codes256 load_codes(const BlockQ5_K& block) {
  Codes256 out = load_nibbles(block.low);
  const __m512i high = load_32_twice(block.high);
  out.codes[0] = or_where(out.codes[0], high, lower_and_upper(1, 4), 16);
  out.codes[1] = or_where(out.codes[1], high, lower_and_upper(2, 8), 16);
  out.codes[2] = or_where(out.codes[2], high, lower_and_upper(16, 64), 16);
  out.codes[3] = or_where(out.codes[3], high, lower_and_upper(32, 128), 16);
  return out;
}
HWY_INLINE Codes256 load_codes(const BlockQ3_K& block) {
  Codes256 out = load_two_bits(block.low);
  const __m512i high = load_32_twice(block.high);
  unrolled<4>(INGOT_UNROLLED(i) { out.codes[i] = or_where(out.codes[i], high, lower_and_upper(1 << i, 16 << i), 4); });
  return out;
}
HWY_INLINE Codes256 load_codes(const BlockQ6_K& block) {
  Codes256 out = load_nibbles(block.low);
  const __m512i mask = _mm512_set1_epi8(0x30);
  // Two bits down in the upper 32 bytes, which then have what they need at the same place as the lower ones.
  const __m512i shift = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(2), 1);
  unrolled<2>(INGOT_UNROLLED(half) {
    const __m512i high = _mm512_srlv_epi16(load_32_twice(block.high + 32 * half), shift);
    out.codes[2 * half] = _mm512_or_si512(out.codes[2 * half], _mm512_and_si512(_mm512_slli_epi16(high, 4), mask));
    out.codes[2 * half + 1] = _mm512_or_si512(out.codes[2 * half + 1], _mm512_and_si512(high, mask));
  });
  return out;
}

HWY_INLINE Codes256 load_codes(const BlockIQ4_XS& block) {
  const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(iq4_nl_values));
  const __m512i table = _mm512_broadcast_i32x4(_mm_xor_si128(values, _mm_set1_epi8(static_cast<char>(0x80))));
  Codes256 out = load_nibbles(block.low);
  unrolled<4>(INGOT_UNROLLED(i) { out.codes[i] = _mm512_shuffle_epi8(table, out.codes[i]); });
  return out;
}

// Integer scales and minimums of the groups, a byte each.
struct GroupBytes {
  __m128i scales;
  __m128i minimums;
};
HWY_INLINE __m128i four_words(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return _mm_setr_epi32(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), static_cast<int>(d));
}
HWY_INLINE GroupBytes load_pairs(const std::uint8_t (&packed)[12]) {
  const SixBitPairs pairs = six_bit_pairs(packed);
  return {four_words(pairs.scales[0], pairs.scales[1], 0, 0), four_words(pairs.minimums[0], pairs.minimums[1], 0, 0)};
}
HWY_INLINE GroupBytes load_groups(const BlockQ4_K& block) { return load_pairs(block.scales); }
HWY_INLINE GroupBytes load_groups(const BlockQ5_K& block) { return load_pairs(block.scales); }
HWY_INLINE GroupBytes load_groups(const BlockQ2_K& block) {
  const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block.scales));
  const __m128i mask = _mm_set1_epi8(15);
  return {_mm_and_si128(both, mask), _mm_and_si128(_mm_srli_epi16(both, 4), mask)};
}
HWY_INLINE GroupBytes load_groups(const BlockQ3_K& block) {
  const SixBitScales words = six_bit_scales(block.scales);
  const __m128i scales = four_words(words.scales[0], words.scales[1], words.scales[2], words.scales[3]);
  return {_mm_sub_epi8(scales, _mm_set1_epi8(32)), _mm_setzero_si128()};
}
HWY_INLINE GroupBytes load_groups(const BlockQ6_K& block) {
  return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(block.scales)), _mm_setzero_si128()};
}

// What meets the sums of a block's groups: words of two registers packed to 16 bits, or where sums do not fit, floats
// of lanes that are each of one group.
template <class Block>
struct GroupFactors {
  __m512i first, second;

  HWY_INLINE GroupFactors(const Block&, const GroupBytes& groups, __m512i first_shuffle, __m512i second_shuffle) {
    const __m512i bytes = _mm512_broadcast_i32x4(groups.scales);
    first = _mm512_srai_epi16(_mm512_shuffle_epi8(bytes, first_shuffle), 8);
    second = _mm512_srai_epi16(_mm512_shuffle_epi8(bytes, second_shuffle), 8);
  }
  // sum_g scale[g] sum_{i in g} code[i] x[i], spread over the lanes.
  HWY_INLINE __m512 multiply(const Codes256& in, const CodedSpan256& x) const {
    __m512i dots[4];
    unrolled<4>(INGOT_UNROLLED(i) {
      const __m512i start = code_offset<Block> == 0 ? _mm512_setzero_si512() : _mm512_load_si512(x.corrections[i]);
      dots[i] = _mm512_dpbusd_epi32(start, in.codes[i], _mm512_load_si512(x.codes[i]));
    });
    const __m512i half = _mm512_madd_epi16(_mm512_packs_epi32(dots[0], dots[1]), first);
    return _mm512_cvtepi32_ps(_mm512_dpwssd_epi32(half, _mm512_packs_epi32(dots[2], dots[3]), second));
  }
};

// Codes of eight bits. Registers 2 i and 2 i + 1 have the two halves of the same four groups, sixteen bytes each: their
// products with scales are below 2^24.
template <>
struct GroupFactors<BlockIQ4_XS> {
  __m512 first, second;

  HWY_INLINE GroupFactors(const BlockIQ4_XS& block, const GroupBytes&, __m512i, __m512i) {
    const std::uint32_t start = word_at(block.scale.bytes), low = word_at(block.scales_low);
    const __m256i low_places = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    const __m256i high_places = _mm256_setr_epi32(16, 18, 20, 22, 24, 26, 28, 30);  // behind the block's scale
    const __m256i lower = _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(low)), low_places),
                                           _mm256_set1_epi32(15));
    const __m256i upper = _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(start)), high_places),
                                           _mm256_set1_epi32(3));
    const __m256i scales =
        _mm256_add_epi32(_mm256_add_epi32(lower, _mm256_set1_epi32(-32)), _mm256_slli_epi32(upper, 4));
    const __m512 eight = _mm512_castps256_ps512(_mm256_cvtepi32_ps(scales));
    const __m512i fours = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    first = _mm512_permutexvar_ps(fours, eight);
    second = _mm512_permutexvar_ps(_mm512_add_epi32(fours, _mm512_set1_epi32(4)), eight);
  }
  HWY_INLINE __m512 multiply(const Codes256& in, const CodedSpan256& x) const {
    const auto chain = [&](int i) __attribute__((always_inline)) {
      const __m512i start =
          _mm512_add_epi32(_mm512_load_si512(x.corrections[i]), _mm512_load_si512(x.corrections[i + 1]));
      const __m512i half = _mm512_dpbusd_epi32(start, in.codes[i], _mm512_load_si512(x.codes[i]));
      return _mm512_cvtepi32_ps(_mm512_dpbusd_epi32(half, in.codes[i + 1], _mm512_load_si512(x.codes[i + 1])));
    };
    return _mm512_fmadd_ps(chain(2), second, _mm512_mul_ps(chain(0), first));
  }
};
HWY_INLINE GroupBytes load_groups(const BlockIQ4_XS&) { return {_mm_setzero_si128(), _mm_setzero_si128()}; }

HWY_INLINE __m128 half_at(const StoredHalf& half) { return _mm_cvtph_ps(_mm_cvtsi32_si128(half.bits())); }

template <class Block, int rows>
void multiply_columns_256(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  constexpr bool has_minimum = requires(const Block& block) { block.minimum; };
  const std::int64_t blocks = gemm.depth / 256;
  const auto* spans = reinterpret_cast<const CodedSpan256*>(coded);
  const std::int64_t ahead = prefetch_distance(gemm.right.width_stride);
  const __m512i first_shuffle = _mm512_load_si512(scale_shuffles<Block>.bytes[0]);
  const __m512i second_shuffle = _mm512_load_si512(scale_shuffles<Block>.bytes[1]);
  for (std::int64_t column = begin; column < end; ++column) {
    const auto* weights = reinterpret_cast<const Block*>(gemm.right.data + column * gemm.right.width_stride);
    __m512 sums[rows];
    __m256 subtracted[rows];
    unrolled<rows>(INGOT_UNROLLED(row) {
      sums[row] = _mm512_setzero_ps();
      subtracted[row] = _mm256_setzero_ps();
    });
    for (std::int64_t b = 0; b < blocks; ++b) {
      prefetch<sizeof(Block)>(weights + b, ahead);
      const Codes256 in = load_codes(weights[b]);
      const GroupBytes groups = load_groups(weights[b]);
      const GroupFactors<Block> factors(weights[b], groups, first_shuffle, second_shuffle);
      const __m512 scale = _mm512_broadcastss_ps(half_at(weights[b].scale));
      __m256 minimum = _mm256_setzero_ps();
      if constexpr (has_minimum) minimum = _mm256_broadcastss_ps(half_at(weights[b].minimum));
      unrolled<rows>(INGOT_UNROLLED(row) {
        const CodedSpan256& x = spans[row * blocks + b];
        // Not the product of both scales first: it may lie below the normal range where the sum does not.
        const __m512 x_sum = _mm512_mul_ps(factors.multiply(in, x), _mm512_set1_ps(x.scale));
        sums[row] = _mm512_fmadd_ps(x_sum, scale, sums[row]);
        if constexpr (has_minimum) {
          const __m256i words = _mm256_cvtepu8_epi16(groups.minimums);
          const __m256i products =
              _mm256_madd_epi16(words, _mm256_load_si256(reinterpret_cast<const __m256i*>(x.sums)));
          const __m256 x_minimums = _mm256_mul_ps(_mm256_cvtepi32_ps(products), _mm256_set1_ps(x.scale));
          subtracted[row] = _mm256_fmadd_ps(x_minimums, minimum, subtracted[row]);
        }
      });
    }
    unrolled<rows>(INGOT_UNROLLED(row) {
      const __m512 rest = _mm512_zextps256_ps512(subtracted[row]);
      const float sum = _mm512_reduce_add_ps(has_minimum ? _mm512_sub_ps(sums[row], rest) : sums[row]);
      gemm.out[row * gemm.out_stride + column] = sum + (gemm.bias == nullptr ? 0.0f : gemm.bias[column]);
    });
  }
}
