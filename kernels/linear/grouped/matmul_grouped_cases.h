// Shapes: experts without rows first, last and between, of one row and of many, a single expert, no rows at all.
#pragma once

#include <vector>

#include "kernels/linear/grouped/matmul_grouped.h"

namespace ingot {

struct GroupedCase {
  std::vector<std::int32_t> sizes;  // rows of each expert
  std::int64_t columns, depth;
  DType type = DType::f32;
  bool has_offsets = true;

  std::string text() const {
    std::string rows;
    for (std::int32_t size : sizes) rows += (rows.empty() ? "" : "+") + std::to_string(size);
    return rows + " rows x " + std::to_string(columns) + " x " + std::to_string(depth) + " " +
           std::string(name_of(type)) + (has_offsets ? "" : ", equal shares");
  }
  Fill weight_fill() const { return is_block_format(type) ? Fill::uniform(-2, 2) : Fill::values(); }
  std::int64_t experts() const { return static_cast<std::int64_t>(sizes.size()); }
  std::int64_t rows() const {
    std::int64_t sum = 0;
    for (std::int32_t size : sizes) sum += size;
    return sum;
  }
  View<const std::int32_t> offsets(CaseBuilder& builder) const {
    const View<std::int32_t> view = builder.filled<std::int32_t>({experts() + 1}, Fill::constant(0));
    for (std::int64_t g = 0; g < experts(); ++g) view(g + 1) = view(g) + sizes[static_cast<std::size_t>(g)];
    return view;
  }
};

template <class Op>
void grouped_parity_cases(CaseList<Op>& list, auto build) {
  auto parity = [&](const GroupedCase& one) { list.parity(one.text(), build(one)); };
  parity({{2, 0, 3}, 5, 7});
  parity({{1}, 1, 1});
  parity({{0, 7, 1, 0}, 33, 65});
  parity({{5, 20, 4, 13}, 37, 130});
  parity({{0, 0}, 3, 4});
  parity({{3, 2}, 4, 0});
  parity({{3, 2}, 0, 4});
}

template <class Op>
void grouped_type_cases(CaseList<Op>& list, auto build) {
  for (const DTypeInformation& type : dtype_table) {
    const bool is_weight_type = is_floating_point(type.dtype) || is_block_format(type.dtype);
    const GroupedCase one{{3, 0, 6}, 9, 512, type.dtype};
    if (is_weight_type) list.parity(one.text(), build(one));
  }
}

inline void MatmulGrouped::cases(CaseList<MatmulGrouped>& list) {
  auto build = [](const GroupedCase& one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({one.rows(), one.depth});
      a.weights = builder.filled_any(one.type, {one.experts(), one.columns, one.depth}, one.weight_fill());
      if (one.has_offsets) a.offsets = one.offsets(builder);
      a.y = builder.blank({one.rows(), one.columns});
      return a;
    };
  };
  grouped_parity_cases(list, build);
  grouped_type_cases(list, build);
  for (const GroupedCase& one : {GroupedCase{{3, 3, 3}, 5, 7, DType::f32, false},
                                 {{0, 0}, 3, 4, DType::f32, false},
                                 {{17, 17}, 33, 64, DType::q8_0, false}}) {
    list.parity(one.text(), build(one));
  }
  list.gradient("2+0+1 rows", build({{2, 0, 1}, 2, 3}));
  list.benchmark("8 experts of 1 row", build({{1, 1, 1, 1, 1, 1, 1, 1}, 1024, 1024}));
  list.benchmark("8 experts of 32 rows", build({{32, 32, 32, 32, 32, 32, 32, 32}, 512, 512}));
}

inline void MatmulGroupedBackwardInput::cases(CaseList<MatmulGroupedBackwardInput>& list) {
  auto build = [](const GroupedCase& one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.weights = builder.filled_any(one.type, {one.experts(), one.columns, one.depth}, one.weight_fill());
      a.offsets = one.offsets(builder);
      a.dy = builder.filled({one.rows(), one.columns});
      a.dx = builder.blank({one.rows(), one.depth});
      return a;
    };
  };
  grouped_parity_cases(list, build);
  grouped_type_cases(list, build);
  list.benchmark("8 experts of 32 rows", build({{32, 32, 32, 32, 32, 32, 32, 32}, 512, 512}));
}

inline void MatmulGroupedBackwardWeight::cases(CaseList<MatmulGroupedBackwardWeight>& list) {
  auto build = [](const GroupedCase& one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({one.rows(), one.depth});
      a.offsets = one.offsets(builder);
      a.dy = builder.filled({one.rows(), one.columns});
      a.dweights = builder.blank({one.experts(), one.columns, one.depth});
      return a;
    };
  };
  grouped_parity_cases(list, build);
  list.benchmark("8 experts of 32 rows", build({{32, 32, 32, 32, 32, 32, 32, 32}, 512, 512}));
}

}  // namespace ingot
