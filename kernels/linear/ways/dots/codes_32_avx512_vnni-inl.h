// Formats of 32 elements: four rows of weights by four blocks at a time. Part of gemm_codes_avx512_vnni.cc, inside its
// target attributes.
//
// A register holds sixteen elements of each of four blocks, so a byte dot product leaves four lanes a block, and the
// sixteen scales (four rows of four blocks) are converted together.

// Rows are read side by side and are often shorter than a page, which hardware prefetching does poorly on: lines are
// asked for some steps ahead, at the least 4 KiB, the time of a load from memory. Past the end that is harmless.
constexpr std::int64_t prefetch_distance(std::int64_t step) { return step <= 0 ? 0 : (4096 + step - 1) / step * step; }
template <std::size_t bytes>
HWY_INLINE void prefetch(const void* from, std::int64_t ahead) {
  const auto address = reinterpret_cast<std::uintptr_t>(from) + static_cast<std::uintptr_t>(ahead);
  unrolled<(bytes + 63) / 64>(
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address past the end is not an element's, and never read
      INGOT_UNROLLED(line) { _mm_prefetch(reinterpret_cast<const char*>(address + 64 * line), _MM_HINT_T0); });
}

// A format's codes plus `offset`, so that none is negative: elements 0 to 15 of four blocks, and 16 to 31.
struct UnsignedCodes {
  __m512i first, second;
};

HWY_INLINE __m512i join_sixteens(const void* a, const void* b, const void* c, const void* d) {
  auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b), 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load(c)), load(d), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

HWY_INLINE __m128i join_fours(const void* a, const void* b, const void* c, const void* d) {
  auto load = [](const void* from) {
    std::int32_t word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  };
  return _mm_setr_epi32(load(a), load(b), load(c), load(d));
}

HWY_INLINE UnsignedCodes split_nibbles(__m512i packed) {
  const __m512i mask = _mm512_set1_epi8(15);
  return {_mm512_and_si512(packed, mask), _mm512_and_si512(_mm512_srli_epi16(packed, 4), mask)};
}

template <class Block, bool all>
HWY_INLINE UnsignedCodes load_nibbles(FourBlocks<Block, all> blocks) {
  return split_nibbles(join_sixteens(blocks[0]->low, blocks[1]->low, blocks[2]->low, blocks[3]->low));
}

template <class Block, bool all>
HWY_INLINE UnsignedCodes load_five_bits(FourBlocks<Block, all> blocks) {
  const UnsignedCodes nibbles = load_nibbles(blocks);
  const __m128i bits = join_fours(blocks[0]->high, blocks[1]->high, blocks[2]->high, blocks[3]->high);
  // The lower halves of four words, then the upper ones: each 64 bits select bytes of one register.
  const __m128i halves = _mm_shuffle_epi8(bits, _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const auto first = static_cast<__mmask64>(_mm_cvtsi128_si64(halves));
  const auto second = static_cast<__mmask64>(_mm_extract_epi64(halves, 1));
  const __m512i fifth = _mm512_set1_epi8(16);
  return {_mm512_mask_add_epi8(nibbles.first, first, nibbles.first, fifth),
          _mm512_mask_add_epi8(nibbles.second, second, nibbles.second, fifth)};
}

template <class Block, bool all>
HWY_INLINE UnsignedCodes look_up(FourBlocks<Block, all> blocks, const std::int8_t (&values)[16], int offset) {
  const __m128i table =
      _mm_add_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)), _mm_set1_epi8(static_cast<char>(offset)));
  const __m512i tables = _mm512_broadcast_i32x4(table);
  const UnsignedCodes nibbles = load_nibbles(blocks);
  return {_mm512_shuffle_epi8(tables, nibbles.first), _mm512_shuffle_epi8(tables, nibbles.second)};
}

template <class Block>
constexpr int code_offset = stored_offset<Block>;
template <>
inline constexpr int code_offset<BlockQ8_0> = 128;
template <>
inline constexpr int code_offset<BlockIQ4_NL> = 128;
template <>
inline constexpr int code_offset<BlockIQ4_XS> = 128;
template <>
inline constexpr int code_offset<BlockMXFP4> = 12;

template <class Block, bool all>
HWY_INLINE UnsignedCodes load_codes(FourBlocks<Block, all> blocks) {
  if constexpr (std::is_same_v<Block, BlockQ8_0>) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(128));
    return {
        _mm512_xor_si512(join_sixteens(blocks[0]->codes, blocks[1]->codes, blocks[2]->codes, blocks[3]->codes), flip),
        _mm512_xor_si512(
            join_sixteens(blocks[0]->codes + 16, blocks[1]->codes + 16, blocks[2]->codes + 16, blocks[3]->codes + 16),
            flip)};
  } else if constexpr (std::is_same_v<Block, BlockIQ4_NL>) {
    return look_up(blocks, iq4_nl_values, code_offset<Block>);
  } else if constexpr (std::is_same_v<Block, BlockMXFP4>) {
    return look_up(blocks, mxfp4_values, code_offset<Block>);
  } else if constexpr (requires(const Block& block) { block.high; }) {
    return load_five_bits(blocks);
  } else {
    return load_nibbles(blocks);
  }
}

// Four neighbouring blocks as they are loaded: pointers to the parts of each, where they begin at any byte.
template <class Block, bool all>
struct LoadedBlocks {
  explicit HWY_INLINE LoadedBlocks(FourBlocks<Block, all> from) : blocks(from) {}
  HWY_INLINE UnsignedCodes codes() const { return load_codes(blocks); }

  FourBlocks<Block, all> blocks;
};

// The first four bytes of four blocks of each of four rows: scales, and bases where a format has them.
template <class Block, bool all>
HWY_INLINE __m512i starts_of(const LoadedBlocks<Block, all>& a, const LoadedBlocks<Block, all>& b,
                             const LoadedBlocks<Block, all>& c, const LoadedBlocks<Block, all>& d) {
  auto fours = [](FourBlocks<Block, all> of)
                   __attribute__((always_inline)) { return join_fours(of[0], of[1], of[2], of[3]); };
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(fours(a.blocks)), fours(b.blocks), 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(fours(c.blocks)), fours(d.blocks), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// A block of Q4_1 is five whole words, its scale and base the first of them: two loads hold the twenty of four blocks,
// and a permutation of words puts them in order, where parts that begin anywhere take a load and an insertion each.
template <bool all>
struct LoadedBlocks<BlockQ4_1, all> {
  explicit HWY_INLINE LoadedBlocks(FourBlocks<BlockQ4_1, all> from) {
    static_assert(sizeof(BlockQ4_1) == 20);
    const auto* words = reinterpret_cast<const std::byte*>(from.first);
    if constexpr (all) {
      low = _mm512_loadu_si512(words);
      high = _mm512_loadu_si512(words + 16);
    } else {  // of less than four blocks: words that are missing count for nothing
      const std::uint32_t present = (std::uint32_t{1} << (5 * from.count)) - 1;
      low = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(present), words);
      high = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(present >> 4), words + 16);
    }
  }
  HWY_INLINE UnsignedCodes codes() const {
    const __m512i order = _mm512_setr_epi32(1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 28, 29, 30, 31);
    return split_nibbles(_mm512_permutex2var_epi32(low, order, high));
  }

  __m512i low, high;  // words 0 to 15, and 4 to 19
};

template <bool all>
HWY_INLINE __m512i starts_of(const LoadedBlocks<BlockQ4_1, all>& a, const LoadedBlocks<BlockQ4_1, all>& b,
                             const LoadedBlocks<BlockQ4_1, all>& c, const LoadedBlocks<BlockQ4_1, all>& d) {
  const __m512i order = _mm512_setr_epi32(0, 5, 10, 15, 16, 21, 26, 31, 0, 5, 10, 15, 16, 21, 26, 31);
  const __m512i first = _mm512_permutex2var_epi32(a.low, order, b.low);
  return _mm512_mask_mov_epi32(first, 0xff00, _mm512_permutex2var_epi32(c.low, order, d.low));
}

// From the first four bytes of sixteen blocks: a half, or an exponent in one byte.
template <class Block>
HWY_INLINE __m512 scales_from(__m512i starts) {
  if constexpr (std::is_same_v<Block, BlockMXFP4>) {
    const __m512i exponents = _mm512_and_si512(starts, _mm512_set1_epi32(255));
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(exponents, _mm512_set1_epi32(1)), 23);
    const __mmask16 subnormal = _mm512_cmplt_epi32_mask(exponents, _mm512_set1_epi32(2));
    return _mm512_castsi512_ps(_mm512_mask_sllv_epi32(normal, subnormal, _mm512_set1_epi32(0x00200000), exponents));
  } else {
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(starts));
  }
}

template <int rows>
struct Sums32 {
  __m512 products[rows][4];  // by row of x and of weights
  __m512 bases[rows];        // lane 4 r + i: row r of the weights, every fourth block from i on
};

template <class Block, int rows, bool all>
HWY_INLINE void add_four_by_four(const FourBlocks<Block, all> (&weights)[4], const CodedSpan32* x, std::int64_t spans,
                                 Sums32<rows>& sums) {
  const LoadedBlocks<Block, all> loaded[4] = {
      LoadedBlocks<Block, all>(weights[0]), LoadedBlocks<Block, all>(weights[1]), LoadedBlocks<Block, all>(weights[2]),
      LoadedBlocks<Block, all>(weights[3])};
  const __m512i starts = starts_of(loaded[0], loaded[1], loaded[2], loaded[3]);
  const __m512 weight_scales = scales_from<Block>(starts);
  const __m512i spread = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);  // four lanes a block
  __m512 scales[rows];
  unrolled<rows>(INGOT_UNROLLED(row) {
    scales[row] = _mm512_permutexvar_ps(spread, _mm512_castps128_ps512(_mm_load_ps(x[row * spans].scales)));
  });
  if constexpr (requires(const Block& block) { block.base; }) {
    const __m512 bases = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(starts, 16)));
    unrolled<rows>(INGOT_UNROLLED(row) {
      const __m512 scaled_sums = _mm512_broadcast_f32x4(_mm_load_ps(x[row * spans].scaled_sums));
      sums.bases[row] = _mm512_fmadd_ps(bases, scaled_sums, sums.bases[row]);
    });
  }
  unrolled<4>(INGOT_UNROLLED(r) {
    const UnsignedCodes codes = loaded[r].codes();
    const __m512 row_scales = _mm512_permutexvar_ps(_mm512_add_epi32(spread, _mm512_set1_epi32(4 * r)), weight_scales);
    unrolled<rows>(INGOT_UNROLLED(row) {
      const CodedSpan32& in = x[row * spans];
      __m512i sum = code_offset<Block> == 0 ? _mm512_setzero_si512() : _mm512_load_si512(in.corrections);
      sum = _mm512_dpbusd_epi32(sum, codes.first, _mm512_load_si512(in.codes[0]));
      sum = _mm512_dpbusd_epi32(sum, codes.second, _mm512_load_si512(in.codes[1]));
      // Not the product of both scales first: it may lie below the normal range where the sum does not.
      const __m512 x_sum = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scales[row]);
      sums.products[row][r] = _mm512_fmadd_ps(x_sum, row_scales, sums.products[row][r]);
    });
  });
}

// The four sums of lanes, of products and bases together.
HWY_INLINE __m128 add_across(const __m512 (&products)[4], __m512 bases) {
  auto quarter = [](__m512 sum, __m128 base) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
    return _mm_add_ps(_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)), base);
  };
  const __m128 a = quarter(products[0], _mm512_castps512_ps128(bases));
  const __m128 b = quarter(products[1], _mm512_extractf32x4_ps(bases, 1));
  const __m128 c = quarter(products[2], _mm512_extractf32x4_ps(bases, 2));
  const __m128 d = quarter(products[3], _mm512_extractf32x4_ps(bases, 3));
  return _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d));
}

template <class Block, int rows>
void multiply_columns_32(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 32;
  const std::int64_t spans = (blocks + 3) / 4;
  const auto* x = reinterpret_cast<const CodedSpan32*>(coded);
  const std::int64_t ahead = prefetch_distance(4 * gemm.right.width_stride);
  for (std::int64_t column = begin; column < end; column += 4) {
    // Rows past the end repeat the last one; what they give is not stored.
    auto row_of = [&](int r) __attribute__((always_inline)) {
      return reinterpret_cast<const Block*>(gemm.right.data + std::min(column + r, end - 1) * gemm.right.width_stride);
    };
    const Block* weights[4] = {row_of(0), row_of(1), row_of(2), row_of(3)};
    Sums32<rows> sums;
    unrolled<rows>(INGOT_UNROLLED(row) {
      unrolled<4>(INGOT_UNROLLED(r) { sums.products[row][r] = _mm512_setzero_ps(); });
      sums.bases[row] = _mm512_setzero_ps();
    });
    auto add = [&]<bool all>(std::int64_t span) __attribute__((always_inline)) {
      const std::int64_t at = 4 * span;
      const FourBlocks<Block, all> four[4] = {{weights[0] + at, blocks - at},
                                              {weights[1] + at, blocks - at},
                                              {weights[2] + at, blocks - at},
                                              {weights[3] + at, blocks - at}};
      add_four_by_four<Block, rows, all>(four, x + span, spans, sums);
    };
    for (std::int64_t span = 0; span < blocks / 4; ++span) {
      if constexpr (std::is_same_v<Block, BlockQ4_1>) {
        // As many bytes as a step multiplies, in the order in which they lie, since rows follow each other without a
        // gap: 5 lines instead of 8. Q8_0 lost 4 % by it on two threads, so the others ask row by row.
        prefetch<16 * sizeof(Block)>(weights[0] + 16 * span, ahead);
      } else {
        unrolled<4>(INGOT_UNROLLED(r) { prefetch<4 * sizeof(Block)>(weights[r] + 4 * span, ahead); });
      }
      add.template operator()<true>(span);
    }
    if (blocks % 4 != 0) add.template operator()<false>(spans - 1);
    unrolled<rows>(INGOT_UNROLLED(row) {
      alignas(16) float results[4];
      _mm_store_ps(results, add_across(sums.products[row], sums.bases[row]));
      float* out = gemm.out + row * gemm.out_stride + column;
      for (std::int64_t r = 0; r < std::min<std::int64_t>(4, end - column); ++r) {
        out[r] = results[r] + (gemm.bias == nullptr ? 0.0f : gemm.bias[column + r]);
      }
    });
  }
}
