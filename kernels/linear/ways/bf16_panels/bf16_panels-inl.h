// What products on bf16 panels (bf16_panels.h) do alike on every machine: round x, lay panels out, hand out the sums.
// Part of a source, inside its target attributes and an unnamed namespace of its own, which says in its instructions
// how two panels are multiplied:
//
//   struct Product {
//     using X = PanelShape<rows, step>;
//     using Weights = PanelShape<rows, step>;
//     static constexpr int least_rows;                     of x, from which on this is faster than dot products
//     static constexpr int depth_block;                    of panels of weights: a multiple of bf16_longest_step
//     static constexpr int columns_at_once, rows_at_once;  multiples of Weights::rows and X::rows: panels of weights
//                                                          that lie ready together, and rows of x that meet them
//     static void round(const float* x, std::int64_t count, std::uint16_t* to);
//     template <class Shape>
//     static void lay_out(const PanelRows<Shape>& rows, std::int64_t steps, std::uint16_t* to);
//     void add(const std::uint16_t* x, const std::uint16_t* weights, std::int64_t depth, float* sums,
//              const std::uint16_t* ahead);                depth: a multiple of bf16_longest_step. Asks the caches for
//                                                          lines_ahead<Product>(depth) lines from `ahead` on: a
//                                                          share of the next panel of x, which
//                                                          comes from afar and arrives while this one is multiplied
//     static void store(const float* sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
//                       std::int64_t stride);              to[row * stride + column], plus bias or null
//   };

template <int panel_rows, int panel_step>
struct PanelShape {
  static constexpr int rows = panel_rows;
  static constexpr int step = panel_step;
};
template <class Shape>
using PanelRows = std::array<const std::uint16_t*, Shape::rows>;

// A number of bytes that the compiler knows: one or a few moves.
template <class Shape>
HWY_INLINE void copy_steps(const PanelRows<Shape>& rows, std::int64_t steps, std::uint16_t* to) {
  constexpr int step = Shape::step;
  for (std::int64_t i = 0; i < steps; ++i) {
    for (int row = 0; row < Shape::rows; ++row, to += step) std::memcpy(to, rows[row] + i * step, 2 * step);
  }
}

// `depth` numbers of each row, padded with zeros to bf16_longest_step.
template <class Product, class Shape>
void lay_out_padded(PanelRows<Shape>& rows, std::int64_t depth, std::uint16_t* to) {
  const std::int64_t whole = depth / bf16_longest_step * bf16_longest_step;
  Product::template lay_out<Shape>(rows, whole / Shape::step, to);
  if (whole == depth) return;
  std::uint16_t rest[Shape::rows][bf16_longest_step] = {};
  for (int row = 0; row < Shape::rows; ++row) {
    std::memcpy(rest[row], rows[row] + whole, static_cast<std::size_t>(2 * (depth - whole)));
    rows[row] = rest[row];
  }
  copy_steps<Shape>(rows, bf16_longest_step / Shape::step, to + whole * Shape::rows);
}

// Rows past the last one repeat it: nothing of them is stored.
template <class Product>
void fill_bf16_panel(const Matmul::Arguments& a, std::int64_t panel, std::uint16_t* to) {
  using X = typename Product::X;
  constexpr int block = 256;
  alignas(64) std::uint16_t rounded[X::rows][block];
  for (std::int64_t begin = 0; begin < a.x.size(1); begin += block) {
    const std::int64_t length = std::min<std::int64_t>(block, a.x.size(1) - begin);
    PanelRows<X> rows;
    for (int row = 0; row < X::rows; ++row) {
      const std::int64_t from = std::min(panel * X::rows + row, a.x.size(0) - 1);
      Product::round(&a.x(from, 0) + begin, length, rounded[row]);
      rows[row] = rounded[row];
    }
    lay_out_padded<Product, X>(rows, length, to + begin * X::rows);
  }
}

template <class Product>
void fill_bf16_panels(const Matmul::Arguments& a, Workers& workers, std::byte* place) {
  constexpr int rows = Product::X::rows;
  auto* panels = reinterpret_cast<std::uint16_t*>(place);
  const std::int64_t depth = bf16_padded_depth(a.x.size(1));
  workers.for_chunks(divide_rounding_up(a.x.size(0), rows), 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
      fill_bf16_panel<Product>(a, panel, panels + panel * rows * depth);
    }
  });
}

// Every panel of weights takes its share, whole lines of it.
template <class Product>
constexpr std::int64_t lines_ahead(std::int64_t depth) {
  return depth * Product::X::rows * Product::Weights::rows / (bf16_longest_step * Product::columns_at_once);
}

template <class Product>
struct alignas(64) Bf16Workspace {
  std::uint16_t weights[Product::columns_at_once * Product::depth_block];
  float sums[Product::rows_at_once * Product::columns_at_once];  // a tile after the other, each as the product has it
};

// Columns `column` to `column` + columns_at_once, or to the last one.
template <class Product>
class Bf16Columns {
 public:
  Bf16Columns(const Matmul::Arguments& a, std::int64_t column, const std::byte* panels, std::byte* workspace)
      : a_(a),
        column_(column),
        columns_(std::min<std::int64_t>(Product::columns_at_once, a.y.size(1) - column)),
        depth_(a.x.size(1)),
        panels_(reinterpret_cast<const std::uint16_t*>(panels)),
        workspace_(*reinterpret_cast<Bf16Workspace<Product>*>(workspace)) {}

  void multiply(Product& product) {
    for (std::int64_t row = 0; row < a_.y.size(0); row += Product::rows_at_once) {
      const std::int64_t rows = std::min<std::int64_t>(Product::rows_at_once, a_.y.size(0) - row);
      for_tiles(rows, [&](std::int64_t, std::int64_t, float* sums) { std::memset(sums, 0, tile * sizeof(float)); });
      for (std::int64_t begin = 0; begin < depth_; begin += Product::depth_block) {
        const std::int64_t length = std::min<std::int64_t>(Product::depth_block, depth_ - begin);
        if (row == 0 || depth_ > Product::depth_block) lay_out_weights(begin, length);  // else they lie there still
        const std::int64_t padded = bf16_padded_depth(length);
        for_tiles(rows, [&](std::int64_t m, std::int64_t n, float* sums) __attribute__((always_inline)) {
          const std::uint16_t* x = panels_ + (row + m) * bf16_padded_depth(depth_) + begin * X::rows;
          const std::uint16_t* next = x + X::rows * bf16_padded_depth(depth_);
          product.add(x, workspace_.weights + n * Product::depth_block, padded, sums,
                      next + X::rows * padded * n / Product::columns_at_once);
        });
      }
      for_tiles(rows, [&](std::int64_t m, std::int64_t n, const float* sums) {
        Product::store(sums, std::min<std::int64_t>(X::rows, rows - m),
                       std::min<std::int64_t>(Weights::rows, columns_ - n),
                       is_present(a_.bias) ? a_.bias.data() + column_ + n : nullptr, &a_.y(row + m, 0) + column_ + n,
                       a_.y.stride(0));
      });
    }
  }

 private:
  using X = typename Product::X;
  using Weights = typename Product::Weights;
  static constexpr int tile = X::rows * Weights::rows;

  // A panel of x meets all panels of weights while it is in the cache.
  template <class Task>
  HWY_INLINE void for_tiles(std::int64_t rows, Task&& task) {
    float* sums = workspace_.sums;
    for (std::int64_t m = 0; m < rows; m += X::rows) {
      for (std::int64_t n = 0; n < columns_; n += Weights::rows, sums += tile) task(m, n, sums);
    }
  }

  void lay_out_weights(std::int64_t begin, std::int64_t length) {
    for (std::int64_t n = 0; n < columns_; n += Weights::rows) {
      PanelRows<Weights> rows;
      for (int row = 0; row < Weights::rows; ++row) {
        const std::int64_t from = column_ + std::min(n + row, columns_ - 1);
        rows[row] = reinterpret_cast<const std::uint16_t*>(a_.weights.row(from)) + begin;
      }
      lay_out_padded<Product, Weights>(rows, length, workspace_.weights + n * Product::depth_block);
    }
  }

  const Matmul::Arguments& a_;
  const std::int64_t column_;
  const std::int64_t columns_;
  const std::int64_t depth_;
  const std::uint16_t* panels_;
  Bf16Workspace<Product>& workspace_;
};

template <class Product>
void multiply_bf16_columns(const Matmul::Arguments& a, const std::byte* panels, std::byte* workspace) {
  Product product;
  for (std::int64_t column = 0; column < a.y.size(1); column += Product::columns_at_once) {
    Bf16Columns<Product>(a, column, panels, workspace).multiply(product);
  }
}

template <class Product>
constexpr Bf16Product bf16_product = {.least_rows = Product::least_rows,
                                      .x_rows = Product::X::rows,
                                      .columns = Product::Weights::rows,
                                      .columns_at_once = Product::columns_at_once,
                                      .rows_at_once = Product::rows_at_once,
                                      .workspace_bytes = sizeof(Bf16Workspace<Product>),
                                      .fill = fill_bf16_panels<Product>,
                                      .multiply = multiply_bf16_columns<Product>};
