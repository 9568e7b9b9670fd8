// The two products of single new tokens with four query heads to a vector (decode_quads-inl.h), for any kind of row
// whose at(i) gives four numbers as floats. No guard and no attributes: included where those of an instruction set are
// open, inside a namespace, after arm_neon.h and decode_plan.h.

// Rows that will be read next, asked for while others are multiplied: a line now and then, so that memory never rests
// and never blocks. From memory into the second-level cache two tiles before their use: one tile before, or into the
// first-level cache, lines wait for miss buffers, and loads behind them (one head: 17.9 and 15.7 instead of 20.2 GB/s).
// Rows of a page follow each other; where a page ends what is asked for is not needed, and does no harm.
struct RowsAhead {
  const std::byte* near;
  std::int64_t far;   // bytes behind those near
  std::int64_t step;  // bytes for each call

  HWY_INLINE void fetch(std::int64_t call) const { __builtin_prefetch(near + far + call * step, 0, 2); }
  // And a tile later into the first-level cache, where products take long enough for the lines that they read.
  HWY_INLINE void fetch_twice(std::int64_t call) const {
    fetch(call);
    __builtin_prefetch(near + call * step, 0, 3);
  }
};

// A share of the coming rows for each of the passes over those at hand, which ask `calls` times each.
class RowsInShares {
 public:
  RowsInShares(const ComingRows& rows, std::int64_t passes, std::int64_t calls)
      : rows_(rows),
        rows_a_pass_(divide_rounding_up(rows.near.count, passes)),
        step_(rows.near.row_bytes * rows_a_pass_ / std::max<std::int64_t>(calls, 1)) {}
  HWY_INLINE RowsAhead of(std::int64_t pass) const {
    const std::byte* near = rows_.near.row[std::min(pass * rows_a_pass_, rows_.near.count - 1)];
    return {near, rows_.far.row[std::min(pass * rows_a_pass_, rows_.far.count - 1)] - near, step_};
  }

 private:
  const ComingRows& rows_;
  std::int64_t rows_a_pass_;
  std::int64_t step_;
};

// How many rows from `first` on lie a stride apart: all but where a page ends.
inline std::int64_t rows_in_line(const TokenRows& rows, std::int64_t first) {
  std::int64_t end = first == 0 ? rows.in_line : first + 1;
  while (end < rows.count && rows.row[end] == rows.row[end - 1] + rows.row_bytes) ++end;
  return end - first;
}

// The sums of lanes of four vectors, in order.
HWY_INLINE float32x4_t sums_of_lanes(const float32x4_t* four) {
  return vpaddq_f32(vpaddq_f32(four[0], four[1]), vpaddq_f32(four[2], four[3]));
}

// Rows become floats one step ahead of their products: where a product follows its conversion at once, the four vector
// pipes of a Neoverse-V1 do 16 of them in 7.8 cycles, a step apart in 6.5.
template <class Row>
HWY_INLINE void load_tokens(const TokenRows& rows, std::int64_t first, std::int64_t i, float32x4_t (&keys)[4]) {
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) keys[t] = Row(rows, first + t).at(i);
}

// Two sums a token: one would not cover the latency.
HWY_INLINE void add_keys(const float32x4_t (&queries)[4], const float32x4_t (&keys)[4], float32x4_t (&even)[4],
                         float32x4_t (&odd)[4]) {
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) {
    even[t] = vfmaq_laneq_f32(even[t], queries[0], keys[t], 0);
    odd[t] = vfmaq_laneq_f32(odd[t], queries[1], keys[t], 1);
  }
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) {
    even[t] = vfmaq_laneq_f32(even[t], queries[2], keys[t], 2);
    odd[t] = vfmaq_laneq_f32(odd[t], queries[3], keys[t], 3);
  }
}

// scores [tokens][4] of eight tokens.
template <class Row>
HWY_INLINE void dot_quad(const float* queries, const TokenRows& rows, std::int64_t first, const RowsAhead& ahead,
                         float* scores) {
  float32x4_t even[2][4], odd[2][4], keys[4], later_keys[4];
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) even[0][t] = odd[0][t] = even[1][t] = odd[1][t] = vdupq_n_f32(0);
  load_tokens<Row>(rows, first, 0, keys);
  for (std::int64_t i = 0; i < rows.dimensions; i += 4) {
    ahead.fetch(i / 4);
    float32x4_t query[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) query[k] = vld1q_f32(queries + quad * (i + k));
    load_tokens<Row>(rows, first + 4, i, later_keys);
    add_keys(query, keys, even[0], odd[0]);
    load_tokens<Row>(rows, first, std::min(i + 4, rows.dimensions - 4), keys);
    add_keys(query, later_keys, even[1], odd[1]);
  }
#pragma GCC unroll 8
  for (int t = 0; t < 8; ++t) {
    vst1q_f32(scores + (first + t) * quad, vaddq_f32(even[t / 4][t % 4], odd[t / 4][t % 4]));
  }
}

template <class Row, int Vectors>
HWY_INLINE void load_values(const TokenRows& rows, std::int64_t token, std::int64_t first,
                            float32x4_t (&values)[Vectors]) {
  const Row row(rows, token);
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) values[v] = row.at(first + 4 * v);
}

template <int Vectors>
HWY_INLINE void add_values(float32x4_t weights, const float32x4_t (&values)[Vectors],
                           float32x4_t (&sums)[quad][Vectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    sums[0][v] = vfmaq_laneq_f32(sums[0][v], values[v], weights, 0);
    sums[1][v] = vfmaq_laneq_f32(sums[1][v], values[v], weights, 1);
    sums[2][v] = vfmaq_laneq_f32(sums[2][v], values[v], weights, 2);
    sums[3][v] = vfmaq_laneq_f32(sums[3][v], values[v], weights, 3);
  }
}

// outputs of Vectors vectors from `first` on.
template <class Row, int Vectors>
HWY_INLINE void mix_quad(const float* weights, const TokenRows& rows, std::int64_t first, const RowsAhead& ahead,
                         float* outputs, std::int64_t width) {
  float32x4_t sums[quad][Vectors], values[Vectors], later_values[Vectors];
#pragma GCC unroll 4
  for (int h = 0; h < quad; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sums[h][v] = vld1q_f32(outputs + h * width + first + 4 * v);
  }
  load_values<Row>(rows, 0, first, values);
  std::int64_t t = 0;
  for (; t + 2 <= rows.count; t += 2) {
    ahead.fetch(t / 2);
    load_values<Row>(rows, t + 1, first, later_values);
    add_values(vld1q_f32(weights + t * quad), values, sums);
    load_values<Row>(rows, t + 2, first, values);  // behind the last token there are rows still
    add_values(vld1q_f32(weights + (t + 1) * quad), later_values, sums);
  }
  if (t < rows.count) add_values(vld1q_f32(weights + t * quad), values, sums);
#pragma GCC unroll 4
  for (int h = 0; h < quad; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) vst1q_f32(outputs + h * width + first + 4 * v, sums[h][v]);
  }
}

// One head of keys for `quads` times four query heads: queries [quad][dimension][4], scores [quad][token_tile][4].
template <class Row>
void dot_quads(const float* queries, std::int64_t quads, std::int64_t width, const TokenRows& keys,
               const ComingRows& next, float* scores) {
  const RowsInShares shares(next, divide_rounding_up(keys.count, 8), keys.dimensions / 4);
  for (std::int64_t q = 0; q < quads; ++q) {
    for (std::int64_t t = 0; t < keys.count; t += 8) {
      dot_quad<Row>(queries + q * width * quad, keys, t, shares.of(t / 8), scores + q * token_tile * quad);
    }
  }
}

template <class Row>
void mix_quads(const float* weights, std::int64_t quads, const TokenRows& values, const ComingRows& next,
               float* outputs, std::int64_t width) {
  constexpr int vectors = 4;
  const std::int64_t passes = divide_rounding_up(values.dimensions, 4 * vectors);
  const RowsInShares shares(next, passes, values.count / 2);
  for (std::int64_t q = 0; q < quads; ++q) {
    const float* weight = weights + q * token_tile * quad;
    float* output = outputs + q * quad * width;
    std::int64_t i = 0;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      const RowsAhead ahead = shares.of(pass);
      if (i + 4 * vectors <= values.dimensions) {
        mix_quad<Row, vectors>(weight, values, i, ahead, output, width);
        i += 4 * vectors;
        continue;
      }
      for (; i < values.dimensions; i += 4) mix_quad<Row, 1>(weight, values, i, ahead, output, width);
    }
  }
}
