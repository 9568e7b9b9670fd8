// SDOT: four codes of a row of weights by those of four rows of x, a lane each. The codes of a row of weights are named
// by their lane, so that sixteen of them are loaded at once.
//
// An Instruction of code_panels_neon-inl.h, and of products of plain bytes. Part of a source, after unrolled-inl.h.

// Row i becomes column i.
HWY_INLINE void transpose(float32x4_t (&rows)[4]) {
  auto pair = [](float32x4_t a, float32x4_t b, float64x2_t& even, float64x2_t& odd) {
    even = vreinterpretq_f64_f32(vtrn1q_f32(a, b));
    odd = vreinterpretq_f64_f32(vtrn2q_f32(a, b));
  };
  float64x2_t a, b, c, d;
  pair(rows[0], rows[1], a, b);
  pair(rows[2], rows[3], c, d);
  rows[0] = vreinterpretq_f32_f64(vzip1q_f64(a, c));
  rows[1] = vreinterpretq_f32_f64(vzip1q_f64(b, d));
  rows[2] = vreinterpretq_f32_f64(vzip2q_f64(a, c));
  rows[3] = vreinterpretq_f32_f64(vzip2q_f64(b, d));
}

struct DotMultiply {
  static constexpr int weight_rows = 1, x_rows = 4;
  static constexpr int weight_units = 8, x_units = 1;

  // Four numbers of a row of weights, one after the other in the lanes of its products.
  template <class Vector>
  static HWY_INLINE void spread(const Vector (&rows)[1], Vector* to) {
    for (int i = 0; i < 4; ++i) to[i] = Vector{rows[0][i], rows[0][i], rows[0][i], rows[0][i]};
  }
  static HWY_INLINE float32x4_t spread_x(const float* rows) { return vld1q_f32(rows); }
  static HWY_INLINE void order(const int8x16_t (&rows)[1], std::int8_t* to, int) { vst1q_s8(to, rows[0]); }
  static HWY_INLINE void order(const std::int8_t* const (&rows)[1], std::int8_t* to) {
    vst1q_s8(to, vld1q_s8(rows[0]));
  }
  static HWY_INLINE void place(const PanelStep& codes, int at, std::int8_t* to) {
    for (int i = 0; i < 64; i += 16) {
      for (int row = 0; row < panel_rows; row += 4) {
        float32x4_t quads[4];
        for (int r = 0; r < 4; ++r) quads[r] = vreinterpretq_f32_s8(vld1q_s8(codes[row + r] + at + i));
        transpose(quads);
        for (int q = 0; q < 4; ++q) vst1q_s8(to + (i + 4 * q) * panel_rows + 4 * row, vreinterpretq_s8_f32(quads[q]));
      }
    }
  }
  // `quads` times four codes.
  template <int quads, int weight_count, int x_count>
  static HWY_INLINE void multiply_quads(const std::int8_t* weights, std::int64_t unit_bytes, const std::int8_t* x,
                                        int32x4_t (&products)[weight_count][x_count]) {
    int8x16_t of_x[quads][x_count];
    unrolled<quads * x_count>(INGOT_UNROLLED(i) {
      of_x[i / x_count][i % x_count] = vld1q_s8(x + 4 * (i / x_count) * panel_rows + 16 * (i % x_count));
    });
    unrolled<weight_count>(INGOT_UNROLLED(i) {
      const int8x16_t of_weights = vld1q_s8(weights + i * unit_bytes);
      unrolled<quads>(INGOT_UNROLLED(quad) {
        unrolled<x_count>(
            INGOT_UNROLLED(j) { products[i][j] = vdotq_laneq_s32(products[i][j], of_x[quad][j], of_weights, quad); });
      });
    });
  }
  template <int weight_count, int x_count>
  static HWY_INLINE void multiply_eight(const std::int8_t* weights, std::int64_t unit_bytes, const std::int8_t* x,
                                        int32x4_t (&products)[weight_count][x_count]) {
    multiply_quads<2>(weights, unit_bytes, x, products);
  }
  template <int weight_count, int x_count>
  static HWY_INLINE void multiply(const std::int8_t* weights, std::int64_t unit_bytes, const std::int8_t* x,
                                  int32x4_t (&products)[weight_count][x_count]) {
    multiply_quads<4>(weights, unit_bytes, x, products);
  }
  static HWY_INLINE void rows_of(const float* products, std::int64_t unit_floats, float32x4_t (&rows)[4]) {
    for (int i = 0; i < 4; ++i) rows[i] = vld1q_f32(products + i * unit_floats);
    transpose(rows);
  }
};
