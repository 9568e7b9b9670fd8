// Shapes around the vector widths, the four-row step and the edges of panels (16 rows, 64 columns, 1024 deep, 512 rows
// at once); each mix of signedness; extreme codes; nothing to sum.
#pragma once

#include "kernels/linear/int8/int8_matmul.h"

namespace ingot {

struct Int8Shape {
  std::int64_t rows, columns, depth;
  DType x = DType::i8;
  DType weights = DType::i8;
  bool zero_points = true;
  bool by_row = true;  // scales and zero points
  bool extras = true;  // bias and accumulators
};

inline void Int8Matmul::cases(CaseList<Int8Matmul>& list) {
  auto build = [](Int8Shape shape) {
    return [shape](CaseBuilder& builder) {
      const std::int64_t x_rows = shape.by_row ? shape.rows : 1;
      const std::int64_t weight_rows = shape.by_row ? shape.columns : 1;
      Arguments a;
      a.x = builder.filled_any(shape.x, {shape.rows, shape.depth});
      a.weights = builder.filled_any(shape.weights, {shape.columns, shape.depth});
      a.x_scale = builder.filled({x_rows}, Fill::uniform(0.001, 0.1));
      a.weight_scale = builder.filled({weight_rows}, Fill::uniform(0.001, 0.1));
      if (shape.zero_points) {
        auto zeros = [&](std::int64_t count, DType dtype) {
          const double lowest = dtype == DType::u8 ? 0 : -128;
          return builder.filled<std::int32_t>({count}, Fill::integers(lowest, lowest + 256));
        };
        a.x_zero = zeros(x_rows, shape.x);
        a.weight_zero = zeros(weight_rows, shape.weights);
      }
      a.y = builder.blank({shape.rows, shape.columns});
      if (shape.extras) {
        a.bias = builder.filled({shape.columns});
        a.accumulators = builder.blank<std::int32_t>({shape.rows, shape.columns});
      }
      return a;
    };
  };
  list.parity("1 x 1 x 1", build({1, 1, 1}));
  list.parity("3 x 5 x 37", build({3, 5, 37}));
  list.parity("2 x 4 x 64 without zero points", build({2, 4, 64, DType::i8, DType::i8, false, false, false}));
  list.parity("u8 x i8, 4 x 7 x 100", build({4, 7, 100, DType::u8, DType::i8}));
  list.parity("i8 x u8, 2 x 9 x 65", build({2, 9, 65, DType::i8, DType::u8, true, false}));
  list.parity("u8 x u8, 5 x 6 x 259", build({5, 6, 259, DType::u8, DType::u8}));
  list.parity("nothing to sum", build({2, 3, 0}));
  list.parity("no rows", build({0, 3, 8}));
  list.parity("5 x 1 x 63", build({5, 1, 63}));
  list.parity("8 x 16 x 64 without zero points", build({8, 16, 64, DType::i8, DType::i8, false, false, false}));
  list.parity("u8 x i8 without zero points, 6 x 18 x 130", build({6, 18, 130, DType::u8, DType::i8, false}));
  list.parity("u8 x u8, 33 x 70 x 1100", build({33, 70, 1100, DType::u8, DType::u8}));
  list.parity("17 x 31 x 2049", build({17, 31, 2049}));
  list.parity("i8 x u8, 520 x 5 x 70", build({520, 5, 70, DType::i8, DType::u8, true, false}));
  list.parity("many rows of nothing to sum", build({7, 3, 0}));
  for (const std::int64_t rows : {1, 6}) {  // by dot products, and on panels
    list.parity("the longest sum of extreme codes, rows: " + std::to_string(rows), [rows](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled_any(DType::u8, {rows, longest_int8_sum}, Fill::constant(255));
      a.weights = builder.filled_any(DType::i8, {1, longest_int8_sum}, Fill::constant(-128));
      a.x_scale = builder.filled({1}, Fill::constant(1));
      a.weight_scale = builder.filled({1}, Fill::constant(1));
      a.weight_zero = builder.filled<std::int32_t>({1}, Fill::constant(127));
      a.y = builder.blank({rows, 1});
      return a;
    });
  }
  list.benchmark("1 x 4096 x 4096", build({1, 4096, 4096, DType::i8, DType::i8, true, true, false}));
  list.benchmark("256 x 1024 x 1024", build({256, 1024, 1024, DType::i8, DType::i8, true, true, false}));
  list.benchmark("64 x 1024 x 1024", build({64, 1024, 1024, DType::u8, DType::i8, true, true, false}));
}

}  // namespace ingot
