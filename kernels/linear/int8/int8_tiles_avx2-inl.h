// Panels of plain bytes in registers of 256 bits, by quads (quads_avx2-inl.h). Part of a source, after it and
// int8_codes_avx2-inl.h.
//
//   struct Bytes {
//     static constexpr int code_bytes;
//     static constexpr std::uint32_t weight_offset;
//     static std::int32_t copy_x(...), copy_weights(...);                as in int8_tiles-inl.h
//     static __m256i add(__m256i chain, __m256i weights, __m256i x);     32-bit sums
//   };

template <class Bytes>
struct QuadTiles : RowPanels, Bytes {
  static constexpr std::uint32_t x_offset = 0;
  static constexpr int x_panels = 1, weight_panels = 1;

  static HWY_INLINE void place(const PanelStep& codes, int at, std::int8_t* to) { place_quads(codes, at, to); }

  static void add(const TileStep<Panel>& step) {
    for (int first = 0; first < panel_rows; first += 4) {
      __m256i chains[4][2];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) chains[i / 2][i % 2] = load_lanes(step.sums[0][first + i / 2] + 8 * (i % 2));
      for (std::int64_t at = 0; at < step.bytes; at += 32) {
        add_quads<Bytes, 8>(step.weights->codes + first, step.x, at, chains);
      }
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) store_lanes(step.sums[0][first + i / 2] + 8 * (i % 2), chains[i / 2][i % 2]);
    }
  }

  static void lines(const PanelSums& sums, std::int32_t* to) {
    for (int column = 0; column < panel_rows; column += 8) {
      for (int row = 0; row < panel_rows; row += 8) {
        __m256i by_row[8];
        for (int i = 0; i < 8; ++i) by_row[i] = load_lanes(sums[column + i] + row);
        transpose(by_row);
        for (int i = 0; i < 8; ++i) store_lanes(to + (row + i) * columns_at_once + column, by_row[i]);
      }
    }
  }
};
