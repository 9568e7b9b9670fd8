// What products of plain bytes on panels (int8_tiles.h) do alike on every machine. Part of a source, inside its target
// attributes and an unnamed namespace of its own, which says in its instructions how two panels are multiplied:
//
//   struct Product {
//     static constexpr int code_bytes;                 1, or 2 where codes are widened
//     static constexpr std::uint32_t x_offset;         what the product adds to each code of x: 0 or 128
//     static constexpr std::uint32_t weight_offset;    and of weights; one of both is 0
//     static constexpr int x_panels, weight_panels;    multiplied together, at most
//     struct Panel;                                    16 rows of weights, int8_depth bytes each
//     static std::int32_t copy_x(const std::byte* from, std::int64_t count, std::uint8_t flip, std::int8_t* to);
//                                                      `count` codes, a multiple of 64 / code_bytes, each by exclusive
//                                                      or with `flip` signed; returns their sum
//     static std::int32_t copy_weights(...);           the same, as the product wants them
//     static void place(const PanelStep&, int at, std::int8_t* to);       as in code_panels-inl.h
//     static Int8Rows& rows(Panel&, Int8Rows& staged);   where rows of weights go before they are put in order
//     static void order(const Int8Rows&, std::int64_t bytes, Panel&);
//     void add(const TileStep<Panel>&);
//     static void lines(const PanelSums&, std::int32_t* to);      by rows of x, columns_at_once from one to the next
//   };

using Int8Rows = std::int8_t[panel_rows][int8_depth + 64];  // not all in one set of the cache

// A few panels of weights by a few of x, `bytes` deep.
template <class Panel>
struct TileStep {
  const Panel* weights;
  int weight_panels;
  const std::int8_t* x;
  std::int64_t panel_bytes;  // from one panel of x to the next
  int x_panels;
  std::int64_t x_rows;  // that count, of the first panel
  std::int64_t bytes;
  PanelSums* sums;  // bits of integers: [weights][panels_at_once]
};

template <class Product>
struct alignas(64) Int8Workspace {
  typename Product::Panel weights[weight_panels_at_once];
  Int8Rows staged;
  PanelSums sums[weight_panels_at_once][panels_at_once];
};

// `length` codes, padded with zeros to whole steps of 64 bytes. Returns their sum.
template <int code_bytes, class Copy>
HWY_INLINE std::uint32_t copy_padded(Copy copy, const std::byte* from, std::int64_t length, std::uint8_t flip,
                                     std::int8_t* to) {
  constexpr std::int64_t step = 64 / code_bytes;
  const std::int64_t whole = length / step * step;
  auto sum = static_cast<std::uint32_t>(copy(from, whole, flip, to));
  if (whole < length) {
    std::byte last[step];
    std::memset(last, flip, sizeof(last));
    std::memcpy(last, from + whole, static_cast<std::size_t>(length - whole));
    sum += static_cast<std::uint32_t>(copy(last, step, flip, to + whole * code_bytes));
  }
  return sum;
}

template <class Product>
void fill_x_panel(const Int8Matmul::Arguments& a, const Int8Panels& x, std::int64_t panel) {
  constexpr std::int64_t step = panel_step / Product::code_bytes;
  const std::int64_t first = panel * panel_rows;
  const std::int64_t rows = std::min<std::int64_t>(panel_rows, a.x.size(0) - first);
  const std::int64_t depth = a.x.size(1);
  std::memset(x.sums() + first, 0, panel_rows * sizeof(std::uint32_t));
  alignas(64) PanelStep codes = {};
  for (std::int64_t begin = 0; begin < depth; begin += step) {
    const std::int64_t length = std::min(step, depth - begin);
    for (std::int64_t row = 0; row < rows; ++row) {
      x.sums()[first + row] += copy_padded<Product::code_bytes>(Product::copy_x, a.x.row(first + row) + begin, length,
                                                                sign_flip(a.x.dtype()), codes[row]);
    }
    const std::int64_t at_byte = begin * Product::code_bytes;
    for (int at = 0; at < length * Product::code_bytes; at += 64) {
      Product::place(codes, at, x.codes(panel) + (at_byte + at) * panel_rows);
    }
  }
}

constexpr std::int64_t columns_at_once = weight_panels_at_once * panel_rows;

// What some columns of y need to become floats:  accumulator = product - of_x_sum[n] * (sum of x's row)
//                                                                      - of_x_zero[n] * x_zero[m] - constant[n]
struct Int8Columns {
  std::uint32_t of_x_sum[columns_at_once] = {};
  std::uint32_t of_x_zero[columns_at_once] = {};
  std::uint32_t constant[columns_at_once] = {};
  float scales[columns_at_once] = {};
  float bias[columns_at_once] = {};

  Int8Columns(const Int8Matmul::Arguments& a, std::int64_t first, std::int64_t count, const std::uint32_t* weight_sums,
              std::uint32_t x_offset, std::uint32_t weight_offset) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto zero = static_cast<std::uint32_t>(signed_zero(a.weight_zero, first + i, a.weights.dtype()));
      of_x_sum[i] = zero + weight_offset;
      of_x_zero[i] = weight_sums[i] - static_cast<std::uint32_t>(a.x.size(1)) * zero;
      constant[i] = x_offset * weight_sums[i];
      scales[i] = per_row(a.weight_scale, first + i);
      if (is_present(a.bias)) bias[i] = a.bias(first + i);
    }
  }
};

HWY_INLINE void store_line(void* to, const void* from, std::int64_t count) {
  if (count >= panel_rows) {  // no call
    std::memcpy(to, from, panel_rows * sizeof(float));
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  }
}

// `count` columns of a row of y: what finish_int8 does, in loops that become vectors.
HWY_INLINE void finish_row(const Int8Matmul::Arguments& a, std::int64_t row, std::int64_t first, std::int64_t count,
                           const Int8Columns& columns, std::uint32_t x_sum, const std::int32_t* products) {
  const auto x_zero = static_cast<std::uint32_t>(signed_zero(a.x_zero, row, a.x.dtype()));
  const float x_scale = per_row(a.x_scale, row);
  const bool biased = is_present(a.bias), kept = is_present(a.accumulators);
  float* y = &a.y(row, first);
  for (std::int64_t at = 0; at < count; at += panel_rows) {
    std::int32_t accumulators[panel_rows];
    float results[panel_rows];
#pragma GCC unroll 4
    for (int i = 0; i < panel_rows; ++i) {
      accumulators[i] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(products[at + i]) - columns.of_x_sum[at + i] * x_sum -
                                    columns.of_x_zero[at + i] * x_zero - columns.constant[at + i]);
      results[i] = static_cast<float>(accumulators[i]) * (x_scale * columns.scales[at + i]);
    }
    if (biased) {
      for (int i = 0; i < panel_rows; ++i) results[i] += columns.bias[at + i];
    }
    store_line(y + at, results, count - at);
    if (kept) store_line(&a.accumulators(row, first) + at, accumulators, count - at);
  }
}

// How many panels of x a thread takes at once: as many as there is room for, since it lays weights out for them, but
// few enough that threads end together.
inline std::int64_t panels_of_block(std::int64_t panels, std::int64_t column_blocks, int threads) {
  constexpr std::int64_t least = 8, chunks_of_thread = 4;
  std::int64_t some = panels_at_once;
  while (some > least && divide_rounding_up(panels, some) * column_blocks < chunks_of_thread * threads) some /= 2;
  return some;
}

// Up to `most` panels of x from `first_panel` on, by the rows of weights of some panels from `first` on.
template <class Product>
void multiply_block(const Int8Matmul::Arguments& a, const Int8Panels& x, std::int64_t first_panel, std::int64_t most,
                    std::int64_t first, Product& product, Int8Workspace<Product>& workspace) {
  using Panel = typename Product::Panel;
  constexpr int code_bytes = Product::code_bytes;
  constexpr std::int64_t step = int8_depth / code_bytes;
  const std::int64_t depth = a.x.size(1);
  const std::int64_t columns = std::min(columns_at_once, a.weights.size(0) - first);
  const int weight_panels = static_cast<int>(divide_rounding_up(columns, panel_rows));
  const std::int64_t panels = std::min(most, x.panels - first_panel);
  std::uint32_t weight_sums[columns_at_once] = {};
  for (int w = 0; w < weight_panels; ++w) {
    std::memset(workspace.sums[w], 0, sizeof(PanelSums) * static_cast<std::size_t>(panels));
  }
  for (std::int64_t begin = 0; begin < depth; begin += step) {
    const std::int64_t length = std::min(step, depth - begin);
    const std::int64_t bytes = divide_rounding_up(length * code_bytes, 64) * 64;
    for (int w = 0; w < weight_panels; ++w) {
      Panel& panel = workspace.weights[w];
      Int8Rows& rows = Product::rows(panel, workspace.staged);
      for (std::int64_t row = 0; row < std::min<std::int64_t>(panel_rows, columns - w * panel_rows); ++row) {
        const std::int64_t column = w * panel_rows + row;
        const std::byte* from = a.weights.row(first + column) + begin;
        // What the next round unpacks comes nearer meanwhile.
        for (std::int64_t at = step; at < std::min(2 * step, depth - begin); at += 64) {
          __builtin_prefetch(from + at, 0, 2);
        }
        weight_sums[column] +=
            copy_padded<code_bytes>(Product::copy_weights, from, length, sign_flip(a.weights.dtype()), rows[row]);
      }
      Product::order(rows, bytes, panel);  // rows past the last one are whatever stood there: nothing reads their sums
    }
    for (std::int64_t p = 0; p < panels; p += Product::x_panels) {
      for (int w = 0; w < weight_panels; w += Product::weight_panels) {
        product.add({.weights = workspace.weights + w,
                     .weight_panels = std::min(Product::weight_panels, weight_panels - w),
                     .x = x.codes(first_panel + p) + begin * code_bytes * panel_rows,
                     .panel_bytes = x.panel_bytes(),
                     .x_panels = static_cast<int>(std::min<std::int64_t>(Product::x_panels, panels - p)),
                     .x_rows = std::min<std::int64_t>(panel_rows, a.x.size(0) - (first_panel + p) * panel_rows),
                     .bytes = bytes,
                     .sums = workspace.sums[w] + p});
      }
    }
  }
  const Int8Columns terms(a, first, columns, weight_sums, Product::x_offset, Product::weight_offset);
  for (std::int64_t p = 0; p < panels; ++p) {
    alignas(64) std::int32_t lines[panel_rows][columns_at_once];
    for (int w = 0; w < weight_panels; ++w) Product::lines(workspace.sums[w][p], lines[0] + w * panel_rows);
    const std::int64_t row = (first_panel + p) * panel_rows;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(panel_rows, a.x.size(0) - row); ++i) {
      finish_row(a, row + i, first, columns, terms, x.sums()[row + i], lines[i]);
    }
  }
}

template <class Product>
void multiply_by_tiles(const Int8Matmul::Arguments& a, Context& context) {
  const Int8Panels x(context.scratch.data(), a, Product::code_bytes);
  auto* workspaces = reinterpret_cast<Int8Workspace<Product>*>(context.scratch.data() + x.bytes());
  context.workers.for_chunks(x.panels, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t panel = begin; panel < end; ++panel) fill_x_panel<Product>(a, x, panel);
  });
  const std::int64_t column_blocks = divide_rounding_up(a.weights.size(0), columns_at_once);
  const std::int64_t panels = panels_of_block(x.panels, column_blocks, context.workers.count());
  const std::int64_t row_blocks = divide_rounding_up(x.panels, panels);
  context.workers.for_chunks(row_blocks * column_blocks, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    Product product;
    for (std::int64_t block = begin; block < end; ++block) {
      multiply_block(a, x, block % row_blocks * panels, panels, block / row_blocks * columns_at_once, product,
                     workspaces[worker]);
    }
  });
}

template <class Product>
std::size_t tile_scratch_bytes(const Int8Matmul::Arguments& a, int threads) {
  return Int8Panels(nullptr, a, Product::code_bytes).bytes() +
         static_cast<std::size_t>(threads) * sizeof(Int8Workspace<Product>);
}

template <class Product>
constexpr Int8Entry tile_entry = {multiply_by_tiles<Product>, tile_scratch_bytes<Product>};
