// SMMLA: two rows of weights by two rows of x, eight codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// An Instruction of products of plain bytes (int8_tiles_neon-inl.h), and of weights in units (weight_units_neon-inl.h).
// Part of a source, after unrolled-inl.h.

// Eight codes of two rows together.
HWY_INLINE void store_pairs(int8x16_t first, int8x16_t second, std::int8_t* lower, std::int8_t* upper) {
  const int64x2_t a = vreinterpretq_s64_s8(first), b = vreinterpretq_s64_s8(second);
  vst1q_s8(lower, vreinterpretq_s8_s64(vzip1q_s64(a, b)));
  vst1q_s8(upper, vreinterpretq_s8_s64(vzip2q_s64(a, b)));
}

struct MatrixMultiply {
  static constexpr int weight_rows = 2, x_rows = 2;

  // Four numbers of each row of weights, one after the other in the lanes of its products.
  template <class Vector>
  static HWY_INLINE void spread(const Vector (&rows)[2], Vector* to) {
    to[0] = __builtin_shufflevector(rows[0], rows[1], 0, 0, 4, 4);
    to[1] = __builtin_shufflevector(rows[0], rows[1], 1, 1, 5, 5);
    to[2] = __builtin_shufflevector(rows[0], rows[1], 2, 2, 6, 6);
    to[3] = __builtin_shufflevector(rows[0], rows[1], 3, 3, 7, 7);
  }
  static HWY_INLINE void order(const int8x16_t (&rows)[2], std::int8_t* to, int eight_bytes) {
    store_pairs(rows[0], rows[1], to, to + eight_bytes);
  }
  static HWY_INLINE void order(const std::int8_t* const (&rows)[2], std::int8_t* to) {
    order({vld1q_s8(rows[0]), vld1q_s8(rows[1])}, to, 16);
  }
  static HWY_INLINE void place(const PanelStep& codes, int at, std::int8_t* to) {
    constexpr int step = 8 * panel_rows;
    for (int i = 0; i < 64; i += 16, to += 2 * step) {
      for (int row = 0; row < panel_rows; row += 2) {
        store_pairs(vld1q_s8(codes[row] + at + i), vld1q_s8(codes[row + 1] + at + i), to + 8 * row,
                    to + step + 8 * row);
      }
    }
  }
  template <int weight_count, int x_count>
  static HWY_INLINE void multiply_eight(const std::int8_t* weights, std::int64_t unit_bytes, const std::int8_t* x,
                                        int32x4_t (&products)[weight_count][x_count]) {
    int8x16_t of_x[x_count];
    unrolled<x_count>(INGOT_UNROLLED(j) { of_x[j] = vld1q_s8(x + 16 * j); });
    unrolled<weight_count>(INGOT_UNROLLED(i) {
      const int8x16_t of_weights = vld1q_s8(weights + i * unit_bytes);
      unrolled<x_count>(INGOT_UNROLLED(j) { products[i][j] = vmmlaq_s32(products[i][j], of_weights, of_x[j]); });
    });
  }
  static HWY_INLINE void rows_of(const float* products, std::int64_t unit_floats, float32x4_t (&rows)[2]) {
    const float32x4_t first = vld1q_f32(products), second = vld1q_f32(products + unit_floats);
    rows[0] = vuzp1q_f32(first, second);
    rows[1] = vuzp2q_f32(first, second);
  }
};
