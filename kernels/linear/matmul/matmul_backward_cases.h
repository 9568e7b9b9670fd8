// The forward's shapes, with the sums over other axes; every weight type once, through which gradients flow back.
#pragma once

#include "kernels/linear/matmul/matmul_backward.h"
#include "kernels/linear/matmul/matmul_cases.h"

namespace ingot {

inline constexpr MatmulCase backward_shapes[] = {
    {3, 5, 7},     {1, 1, 1},      {1, 37, 129}, {5, 31, 16}, {12, 33, 32}, {25, 300, 49},
    {300, 17, 19}, {97, 270, 140}, {7, 0, 9},    {0, 9, 8},   {9, 8, 0},
};

inline void MatmulBackwardInput::cases(CaseList<MatmulBackwardInput>& list) {
  auto build = [](MatmulCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.dy = builder.filled({one.rows, one.columns});
      a.weights = builder.filled_any(one.type, {one.columns, one.depth}, one.weight_fill());
      a.dx = builder.blank({one.rows, one.depth});
      return a;
    };
  };
  auto parity = [&](MatmulCase one) { list.parity(one.text(), build(one)); };
  for (const MatmulCase& one : backward_shapes) parity(one);
  for (const DTypeInformation& type : dtype_table) {
    if (type.dtype == DType::f16 || type.dtype == DType::bf16) parity({5, 19, 77, type.dtype});
    if (type.block_elements == 32) parity({5, 19, 320, type.dtype});
    if (type.block_elements == 256) parity({13, 11, 512, type.dtype});
  }
  list.benchmark("128 x 1024 x 1024", build({128, 1024, 1024}));
}

inline void MatmulBackwardWeight::cases(CaseList<MatmulBackwardWeight>& list) {
  auto build = [](MatmulCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({one.rows, one.depth});
      a.dy = builder.filled({one.rows, one.columns});
      a.dweights = builder.blank({one.columns, one.depth});
      return a;
    };
  };
  for (const MatmulCase& one : backward_shapes) list.parity(one.text(), build(one));
  list.benchmark("128 x 1024 x 1024", build({128, 1024, 1024}));
}

inline void MatmulBackwardBias::cases(CaseList<MatmulBackwardBias>& list) {
  auto build = [](std::int64_t rows, std::int64_t columns) {
    return [rows, columns](CaseBuilder& builder) {
      Arguments a;
      a.dy = builder.filled({rows, columns});
      a.dbias = builder.blank({columns});
      return a;
    };
  };
  for (std::int64_t columns : {1, 3, 16, 33, 129, 2500}) {
    list.parity("5 x " + std::to_string(columns), build(5, columns));
  }
  list.parity("300 x 70", build(300, 70));
  list.parity("no rows", build(0, 9));
  list.parity("no columns", build(9, 0));
  list.benchmark("512 x 4096", build(512, 4096));
}

}  // namespace ingot
