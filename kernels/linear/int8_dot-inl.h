// Products of a few rows of plain bytes, by dot products with weights as they lie, at the speed of reading them. Part
// of a source, after int8_tiles-inl.h, which says in its instructions how four rows of weights are multiplied:
//
//   struct Dots {
//     static constexpr std::uint32_t x_offset;     what the product adds to each signed code of x
//     static std::int32_t copy_x(...);             as in int8_tiles-inl.h
//     template <int rows>
//     static void add(const WeightRows& weights, std::uint8_t flip, const std::int8_t* x, std::int64_t stride,
//                     std::int64_t count, DotSums<rows>& sums);
//                                                  `count` codes, a multiple of 64, of each row
//   };

constexpr int weight_rows_at_once = 4;
using WeightRows = const std::byte* [weight_rows_at_once];

template <int rows>
struct DotSums {
  std::uint32_t products[rows][weight_rows_at_once] = {};
  std::uint32_t weights[weight_rows_at_once] = {};
};

// x as signed codes, rows padded with zeros to whole steps, and the sum of each row.
struct Int8Lines {
  std::int8_t* codes;
  std::int64_t stride;
  std::uint32_t* sums;

  Int8Lines(std::byte* place, const Int8Matmul::Arguments& a)
      : codes(reinterpret_cast<std::int8_t*>(place)),
        stride(divide_rounding_up(a.x.size(1), 64) * 64),
        sums(reinterpret_cast<std::uint32_t*>(place + a.x.size(0) * stride)) {}
};

template <class Dots, int rows>
void multiply_columns(const Int8Matmul::Arguments& a, const Int8Lines& x, std::int64_t begin, std::int64_t end) {
  const std::int64_t depth = a.x.size(1);
  const std::int64_t whole = depth / 64 * 64;
  const std::uint8_t flip = sign_flip(a.weights.dtype());
  for (std::int64_t first = begin; first < end; first += weight_rows_at_once) {
    const std::int64_t count = std::min<std::int64_t>(weight_rows_at_once, end - first);
    WeightRows weights;
    for (std::int64_t i = 0; i < weight_rows_at_once; ++i) weights[i] = a.weights.row(first + std::min(i, count - 1));
    DotSums<rows> sums;
    Dots::template add<rows>(weights, flip, x.codes, x.stride, whole, sums);
    if (whole < depth) {
      std::byte last[weight_rows_at_once][64];
      WeightRows padded;
      std::memset(last, flip, sizeof(last));
      for (int i = 0; i < weight_rows_at_once; ++i) {
        std::memcpy(last[i], weights[i] + whole, static_cast<std::size_t>(depth - whole));
        padded[i] = last[i];
      }
      Dots::template add<rows>(padded, flip, x.codes + whole, x.stride, 64, sums);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto zero = static_cast<std::uint32_t>(signed_zero(a.weight_zero, first + i, a.weights.dtype()));
      const std::uint32_t of_x_zero = sums.weights[i] - static_cast<std::uint32_t>(depth) * zero;
      for (int m = 0; m < rows; ++m) {
        const auto x_zero = static_cast<std::uint32_t>(signed_zero(a.x_zero, m, a.x.dtype()));
        finish_int8(a, m, first + i,
                    static_cast<std::int32_t>(sums.products[m][i] - zero * x.sums[m] - of_x_zero * x_zero -
                                              Dots::x_offset * sums.weights[i]));
      }
    }
  }
}

template <class Dots>
void multiply_by_dots(const Int8Matmul::Arguments& a, Context& context) {
  const Int8Lines x(context.scratch.data(), a);
  const std::int64_t rows = a.x.size(0);
  for (std::int64_t m = 0; m < rows; ++m) {
    x.sums[m] = copy_padded<1>(Dots::copy_x, a.x.row(m), a.x.size(1), sign_flip(a.x.dtype()), x.codes + m * x.stride);
  }
  const std::int64_t chunk = divide_rounding_up(rows_per_chunk(a.x.size(1)), weight_rows_at_once) * weight_rows_at_once;
  context.workers.for_chunks(a.weights.size(0), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    switch (rows) {
      case 1: return multiply_columns<Dots, 1>(a, x, begin, end);
      case 2: return multiply_columns<Dots, 2>(a, x, begin, end);
      case 3: return multiply_columns<Dots, 3>(a, x, begin, end);
      case 4: return multiply_columns<Dots, 4>(a, x, begin, end);
    }
  });
}

inline std::size_t dot_scratch_bytes(const Int8Matmul::Arguments& a, int) {
  const Int8Lines x(nullptr, a);
  return static_cast<std::size_t>(a.x.size(0) * (x.stride + static_cast<std::int64_t>(sizeof(std::uint32_t))));
}

template <class Dots>
constexpr Int8Entry dot_entry = {multiply_by_dots<Dots>, dot_scratch_bytes};
