// Code panels in registers of 256 bits: lane j is row j or j + 8 of x, four codes of a weight row reach all lanes by a
// broadcast. Weights are unsigned (unsigned_codes.h), and sums start from what their offset would add, negated. Part of
// a source, after code_panels-inl.h and quads_avx2-inl.h; the source says how a quad (four neighbouring codes) is
// multiplied:
//
//   struct Bytes {
//     template <class Block> static constexpr CodePlanes planes;
//     static __m256i add(__m256i chain, __m256i weights, __m256i x);
//     static __m256i negative(__m256i chain);
//     static __m256i total(__m256i chain);                          32-bit sums
//     static __m256i total(__m256i chain, std::int16_t scale);      times an integer
//   };

// A panel of weights. Formats that are multiplied alike share a type: `group` elements have a scale of their own, an
// integer in formats of 256.
template <int elements, int group, CodePlanes planes>
struct alignas(64) UnsignedPanel {
  std::int8_t codes[planes.count * panel_rows][panel_depth + 64];
  float scales[panel_rows][panel_depth / elements];
  float minimums[panel_rows][panel_depth / group];
  std::int16_t group_scales[panel_rows][elements == 32 ? 1 : panel_depth / group];
};

template <class Bytes>
class ByteProduct {
 public:
  static constexpr SimdTarget target = SimdTarget::avx2;
  template <class Block>
  static constexpr CodePlanes planes = Bytes::template planes<Block>;
  // The panel's type does not tell one offset from another.
  template <class Block>
  using Panel =
      UnsignedPanel<Block::elements, Block::group,
                    CodePlanes{planes<Block>.count, planes<Block>.offset == 0 ? 0 : 1, planes<Block>.chain_quads}>;

  static HWY_INLINE float half_value(StoredHalf half) { return _cvtsh_ss(half.bits()); }

  template <class Block>
  static void place(const PanelStep& codes, int at, const ActivationPart& to) {
    place_quads(codes, at, to.codes);
    for (int half = 0; half < 2; ++half) {
      const std::int8_t* quads = to.codes + 32 * half;
      if constexpr (planes<Block>.offset != 0) {
        const __m256i offsets = _mm256_set1_epi8(static_cast<char>(planes<Block>.offset));
        constexpr int length = Block::group / 4;
        for (int group = 0; group < 16 / length; ++group) {
          __m256i chain = _mm256_setzero_si256();
          for (int i = 0; i < length; ++i) {
            chain = Bytes::add(chain, offsets, load_lanes(quads + 64 * (length * group + i)));
          }
          store_lanes(to.corrections + panel_rows * group + 8 * half, Bytes::negative(chain));
        }
      }
    }
  }

  // Signed codes as the panel has them.
  template <class Block>
  static HWY_INLINE void put_codes(__m256i codes, std::int64_t at, int row, Panel<Block>& panel) {
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(planes<Block>.offset));
    if constexpr (planes<Block>.count == 2) {
      const __m256i nibble = _mm256_set1_epi8(15);
      // The upper nibble's sign becomes its offset of 8.
      const __m256i upper = _mm256_xor_si256(_mm256_and_si256(_mm256_srli_epi16(codes, 4), nibble), offset);
      store_lanes(panel.codes[row] + at, _mm256_and_si256(codes, nibble));
      store_lanes(panel.codes[panel_rows + row] + at, upper);
    } else {
      store_lanes(panel.codes[row] + at, _mm256_add_epi8(codes, offset));
    }
  }

  template <class Block>
  static void finish_codes(std::int64_t count, int row, Panel<Block>& panel) {
    if constexpr (planes<Block>.offset != 0) {
      for (std::int64_t at = 0; at < count; at += 32) {
        put_codes<Block>(load_lanes(panel.codes[row] + at), at, row, panel);
      }
    }
  }

  template <class Block>
  static void scale_codes(const std::int8_t (&codes)[256], const std::int16_t (&scales)[16], std::int64_t b, int row,
                          Panel<Block>& panel) {
    for (int at = 0; at < 256; at += 32) put_codes<Block>(load_lanes(codes + at), 256 * b + at, row, panel);
    constexpr int groups = 256 / Block::group;
    for (int g = 0; g < groups; ++g) panel.group_scales[row][b * groups + g] = scales[g * 16 / groups];
  }

  template <class Panel>
  void prepare(const Panel&, std::int64_t) {}

  // Four rows of weights by sixteen of x: eight chains, two registers of x, and one of weights at a time; the floats
  // wait in the first-level cache.
  template <int elements, int group, CodePlanes planes>
  HWY_NOINLINE void add(const UnsignedPanel<elements, group, planes>& weights, std::int64_t blocks,
                        const ActivationPart& x, PanelWorkspace&, PanelSums& sums) const {
    for (int first = 0; first < panel_rows; first += 4) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        __m256i totals[4][2] = {};
        for (int plane = 0; plane < planes.count; ++plane) {
          for (int g = 0; g < elements / group; ++g) {
            const std::int64_t at_group = b * (elements / group) + g;
            for (int begin = 0; begin < group; begin += 4 * planes.chain_quads) {
              __m256i chains[4][2];
              const bool corrected = planes.offset != 0 && plane == planes.count - 1;
#pragma GCC unroll 8
              for (int i = 0; i < 8; ++i) {
                chains[i / 2][i % 2] = corrected ? load_lanes(x.corrections + at_group * panel_rows + 8 * (i % 2))
                                                 : _mm256_setzero_si256();
              }
              add_quads<Bytes, planes.chain_quads>(weights.codes + panel_rows * plane + first, x.codes,
                                                   at_group * group + begin, chains);
#pragma GCC unroll 8
              for (int i = 0; i < 8; ++i) {
                const __m256i chain = chains[i / 2][i % 2];
                const int weight = plane == 1 ? 16 : 1;
                const __m256i part =
                    elements == 256
                        ? Bytes::total(
                              chain, static_cast<std::int16_t>(weight * weights.group_scales[first + i / 2][at_group]))
                    : plane == 1 ? Bytes::total(chain, 16)
                                 : Bytes::total(chain);
                totals[i / 2][i % 2] = _mm256_add_epi32(totals[i / 2][i % 2], part);
              }
            }
          }
        }
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          float* sum = sums[first + i / 2] + 8 * (i % 2);
          // Not the product of both scales first: it may lie below the normal range where the sum does not.
          const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(totals[i / 2][i % 2]),
                                               _mm256_load_ps(x.scales + b * panel_rows + 8 * (i % 2)));
          const __m256 scale = _mm256_set1_ps(weights.scales[first + i / 2][b]);
          _mm256_store_ps(sum, _mm256_fmadd_ps(product, scale, _mm256_load_ps(sum)));
        }
      }
    }
  }

  template <class Panel>
  static void subtract_minimums(const Panel& panel, std::int64_t groups, const float* scaled_sums, PanelSums& sums) {
    for (int row = 0; row < panel_rows; row += 4) {
      __m256 totals[4][2];
      for (int i = 0; i < 8; ++i) totals[i / 2][i % 2] = _mm256_load_ps(sums[row + i / 2] + 8 * (i % 2));
      for (std::int64_t g = 0; g < groups; ++g) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          __m256& total = totals[i / 2][i % 2];
          total = _mm256_fnmadd_ps(_mm256_set1_ps(panel.minimums[row + i / 2][g]),
                                   _mm256_load_ps(scaled_sums + g * panel_rows + 8 * (i % 2)), total);
        }
      }
      for (int i = 0; i < 8; ++i) _mm256_store_ps(sums[row + i / 2] + 8 * (i % 2), totals[i / 2][i % 2]);
    }
  }

  static void store(const PanelSums& sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
                    std::int64_t stride) {
    for (int column = 0; column < columns; column += 8) {
      const auto used = static_cast<std::size_t>(std::min<std::int64_t>(8, columns - column)) * sizeof(float);
      alignas(32) float eight[8] = {};
      if (bias != nullptr) std::memcpy(eight, bias + column, used);
      const __m256 added = _mm256_load_ps(eight);
      for (int row = 0; row < rows; row += 8) {
        __m256i by_row[8];
        for (int i = 0; i < 8; ++i) by_row[i] = load_lanes(sums[column + i] + row);
        transpose(by_row);
        for (int i = 0; i < std::min<std::int64_t>(8, rows - row); ++i) {
          _mm256_store_ps(eight, _mm256_add_ps(_mm256_castsi256_ps(by_row[i]), added));
          std::memcpy(to + (row + i) * stride + column, eight, used);
        }
      }
    }
  }
};
