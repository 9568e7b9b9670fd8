// Panels of plain bytes in registers of 512 bits: four codes of each of sixteen rows of x together, weights in rows.
// Part of a source, after transpose_avx512-inl.h and int8_codes_avx2-inl.h.
struct WideTiles : RowPanels {
  static constexpr int code_bytes = 1;
  static constexpr std::uint32_t weight_offset = 0;
  static constexpr auto copy_x = copy_signed, copy_weights = copy_signed;

  static HWY_INLINE void place(const PanelStep& codes, int at, std::int8_t* to) {
    __m512i quads[panel_rows];
    for (int row = 0; row < panel_rows; ++row) quads[row] = _mm512_load_si512(codes[row] + at);
    transpose(quads);
    for (int i = 0; i < panel_rows; ++i) _mm512_store_si512(to + 64 * i, quads[i]);
  }

  static void lines(const PanelSums& sums, std::int32_t* to) {
    __m512i by_row[panel_rows];
    for (int i = 0; i < panel_rows; ++i) by_row[i] = _mm512_load_si512(sums[i]);
    transpose(by_row);
    for (int i = 0; i < panel_rows; ++i) _mm512_store_si512(to + i * columns_at_once, by_row[i]);
  }
};
