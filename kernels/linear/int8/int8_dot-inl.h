// Products of a few rows of plain bytes, by dot products with weights as they lie, at the speed of reading them. Part
// of a source, after int8_tiles-inl.h, which says in its instructions how rows of weights are multiplied:
//
//   struct Dots {
//     static constexpr std::uint32_t x_offset;     what the product adds to each signed code of x
//     static constexpr std::int64_t chunk_bytes;   of weights that are worth handing to a thread
//     static std::int32_t copy_x(...);             as in int8_tiles-inl.h
//     template <int rows>
//     static void add(const std::byte* weights, std::uint8_t flip, const std::int8_t* x, std::int64_t stride,
//                     std::int64_t count, DotSums<rows>& sums);
//                                                  `count` codes, a multiple of 64, of each row
//   };
//
// Rows of weights are read one after the other, a single stream that hardware prefetching follows: with two or four at
// once a Neoverse-V1 reads half as fast.

template <int rows>
struct DotSums {
  std::uint32_t products[rows] = {};
  std::uint32_t weights = 0;
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
  for (std::int64_t n = begin; n < end; ++n) {
    const std::byte* weights = a.weights.row(n);
    DotSums<rows> sums;
    Dots::add(weights, flip, x.codes, x.stride, whole, sums);
    if (whole < depth) {
      std::byte last[64];
      std::memset(last, flip, sizeof(last));
      std::memcpy(last, weights + whole, static_cast<std::size_t>(depth - whole));
      Dots::add(last, flip, x.codes + whole, x.stride, 64, sums);
    }
    const auto zero = static_cast<std::uint32_t>(signed_zero(a.weight_zero, n, a.weights.dtype()));
    const std::uint32_t of_x_zero = sums.weights - static_cast<std::uint32_t>(depth) * zero;
    for (int m = 0; m < rows; ++m) {
      const auto x_zero = static_cast<std::uint32_t>(signed_zero(a.x_zero, m, a.x.dtype()));
      finish_int8(a, m, n,
                  static_cast<std::int32_t>(sums.products[m] - zero * x.sums[m] - of_x_zero * x_zero -
                                            Dots::x_offset * sums.weights));
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
  context.workers.for_chunks(a.weights.size(0), rows_per_chunk(a.x.size(1), Dots::chunk_bytes),
                             [&](std::int64_t begin, std::int64_t end, int) {
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
