// Few rows of activations and weights, both of 16 bits a number, by instructions that sum their products in f32: what
// products of bf16 and of f16 numbers do alike. Part of a source, inside its target attributes and an unnamed namespace
// of its own, which says before it includes this:
//
//   load(const std::uint16_t*)                    a vector of eight numbers
//   add_products(sums, weights, x)                sums and the products of eight numbers
//   prepared_x(prepared, depth, row)              a row of x in 16 bits, padded with zeros to whole vectors
//   prepared_scale(prepared, row)                 what sums of products with that row are multiplied by
//
// Rows of weights from far apart are multiplied side by side: they share what is loaded of x, and the memory answers
// several long streams faster than one. The instructions take 4 or 5 cycles and two to four start each cycle: sixteen
// sums keep up with 26 GB/s a core.

constexpr std::int64_t step = 8;  // numbers of a vector
constexpr std::int64_t stream_chunk_bytes = 512 << 10;

std::int64_t padded(std::int64_t depth) { return (depth + step - 1) / step * step; }

// Sums are numbered by row of x, then column, then vector of a stride: `unroll` vectors of each column go together.
template <int rows, int columns, int unroll, std::size_t... i>
HWY_INLINE void dot_tile(const std::uint16_t* const (&x)[rows], const std::uint16_t* const (&weights)[columns],
                         std::int64_t depth, float (&results)[rows * columns], std::index_sequence<i...>) {
  float32x4_t sums[] = {(static_cast<void>(i), vdupq_n_f32(0))...};
  constexpr auto column = [](std::size_t index) { return index / rows % columns; };
  constexpr auto vector = [](std::size_t index) { return static_cast<std::int64_t>(index / (rows * columns)) * step; };
  std::int64_t k = 0;
  for (; k + unroll * step <= depth; k += unroll * step) {
    ((sums[i] = add_products(sums[i], load(weights[column(i)] + k + vector(i)), load(x[i % rows] + k + vector(i)))),
     ...);
  }
  for (; k + step <= depth; k += step) {
    ((sums[i] =
          i < rows * columns ? add_products(sums[i], load(weights[column(i)] + k), load(x[i % rows] + k)) : sums[i]),
     ...);
  }
  if (k < depth) {
    std::uint16_t last[columns][step] = {};
    for (int j = 0; j < columns; ++j) {
      std::memcpy(last[j], weights[j] + k, static_cast<std::size_t>(depth - k) * sizeof(std::uint16_t));
    }
    ((sums[i] = i < rows * columns ? add_products(sums[i], load(last[column(i)]), load(x[i % rows] + k)) : sums[i]),
     ...);
  }
  for (float& result : results) result = 0;
  ((results[i % (rows * columns)] += vaddvq_f32(sums[i])), ...);
}

constexpr int columns_at_once = 4;
template <int rows>
inline constexpr int vectors_at_once = rows <= 2 ? 4 / rows : 1;

// The rows from `row` on. Columns past the end repeat the last one.
template <int rows>
void dot_columns(const Gemm& gemm, const std::byte* prepared, std::int64_t row, std::int64_t begin, std::int64_t end) {
  constexpr int columns = columns_at_once;
  const std::uint16_t* x[rows];
  float scales[rows];
  for (int i = 0; i < rows; ++i) {
    x[i] = prepared_x(prepared, gemm.depth, row + i);
    scales[i] = prepared_scale(prepared, row + i);
  }
  float* out = gemm.out + row * gemm.out_stride;
  const std::int64_t stream = (end - begin + columns - 1) / columns;
  for (std::int64_t first = begin; first < begin + stream; ++first) {
    std::int64_t numbers[columns];
    const std::uint16_t* weights[columns];
    for (int j = 0; j < columns; ++j) {
      numbers[j] = std::min(first + j * stream, end - 1);
      weights[j] = reinterpret_cast<const std::uint16_t*>(gemm.right.data + numbers[j] * gemm.right.width_stride);
    }
    float results[rows * columns];
    dot_tile<rows, columns, vectors_at_once<rows>>(x, weights, gemm.depth, results,
                                                   std::make_index_sequence<rows * columns * vectors_at_once<rows>>());
    for (int j = 0; j < columns; ++j) {
      const float bias = gemm.bias == nullptr ? 0.0f : gemm.bias[numbers[j]];
      for (int i = 0; i < rows; ++i) out[i * gemm.out_stride + numbers[j]] = results[j * rows + i] * scales[i] + bias;
    }
  }
}

// Rows go by fours, each over columns whose weights the next four find in the cache.
void columns(const Gemm& gemm, const std::byte* prepared, std::int64_t begin, std::int64_t end) {
  using Columns = void (*)(const Gemm&, const std::byte*, std::int64_t, std::int64_t, std::int64_t);
  constexpr Columns by_rows[] = {dot_columns<1>, dot_columns<2>, dot_columns<3>, dot_columns<4>};
  constexpr std::int64_t most = std::size(by_rows);
  for (std::int64_t row = 0; row < gemm.rows; row += most) {
    by_rows[std::min(most, gemm.rows - row) - 1](gemm, prepared, row, begin, end);
  }
}
