// Shapes: single elements, odd sizes, both transposes, transposes as strides, shared batches, many small and few large
// products, nothing to sum and nothing to write.
#pragma once

#include "kernels/linear/batched/matmul_batched.h"

namespace ingot {

// How an operand of [batches, rows, columns] reaches the operation.
enum class OperandStyle : std::uint8_t {
  plain,
  flagged,
  strided
};  // strided: transposed in memory, seen through strides

struct BatchedCase {
  std::int64_t batches_a, batches_b, rows, columns, depth;
  OperandStyle a = OperandStyle::plain;
  OperandStyle b = OperandStyle::plain;

  std::string text() const {
    auto name = [](OperandStyle style) {
      return style == OperandStyle::plain ? "" : style == OperandStyle::flagged ? " transposed" : " strided";
    };
    return "a " + std::to_string(batches_a) + " x " + std::to_string(rows) + " x " + std::to_string(depth) + name(a) +
           ", b " + std::to_string(batches_b) + " x " + std::to_string(depth) + " x " + std::to_string(columns) +
           name(b);
  }
  std::int64_t batches() const { return batches_a == 1 ? batches_b : batches_a; }

  static View<const float> operand(CaseBuilder& builder, std::int64_t batches, std::int64_t rows, std::int64_t columns,
                                   OperandStyle style) {
    if (style == OperandStyle::plain) return builder.filled({batches, rows, columns});
    const View<float> stored = builder.filled({batches, columns, rows});
    if (style == OperandStyle::flagged) return stored;
    return View<const float>(stored.data(), {batches, rows, columns},
                             {stored.stride(0), stored.stride(2), stored.stride(1)});
  }
  template <class Arguments>
  Arguments operands(CaseBuilder& builder) const {
    Arguments arguments;
    arguments.a = operand(builder, batches_a, rows, depth, a);
    arguments.b = operand(builder, batches_b, depth, columns, b);
    arguments.transpose_a = a == OperandStyle::flagged;
    arguments.transpose_b = b == OperandStyle::flagged;
    return arguments;
  }
};

template <class Op>
void batched_parity_cases(CaseList<Op>& list, auto build) {
  using enum OperandStyle;
  auto parity = [&](BatchedCase one) { list.parity(one.text(), build(one)); };
  parity({2, 2, 3, 5, 7});
  parity({2, 2, 3, 5, 7, flagged, flagged});
  parity({1, 3, 4, 6, 5, strided, plain});
  parity({1, 1, 1, 1, 1});
  parity({3, 1, 13, 33, 17, plain, flagged});
  parity({3, 3, 13, 33, 17, flagged, plain});
  parity({2, 1, 7, 9, 300, strided, strided});
  parity({40, 40, 5, 6, 8, plain, strided});
  parity({2, 2, 70, 65, 40, flagged, strided});
  parity({2, 2, 3, 4, 0});
  parity({0, 1, 3, 4, 5});
  parity({2, 2, 0, 4, 5});
}

inline void MatmulBatched::cases(CaseList<MatmulBatched>& list) {
  auto build = [](BatchedCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a = one.operands<Arguments>(builder);
      a.y = builder.blank({one.batches(), one.rows, one.columns});
      return a;
    };
  };
  batched_parity_cases(list, build);
  list.gradient("plain", build({2, 2, 2, 3, 4}));
  list.gradient("transposed, shared b", build({2, 1, 2, 3, 4, OperandStyle::flagged, OperandStyle::flagged}));
  list.gradient("shared a", build({1, 3, 2, 3, 2}));
  list.benchmark("32 heads of 128 x 128 x 64, b transposed",
                 build({32, 32, 128, 128, 64, OperandStyle::plain, OperandStyle::flagged}));
}

inline void MatmulBatchedBackward::cases(CaseList<MatmulBatchedBackward>& list) {
  auto build = [](BatchedCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a = one.operands<Arguments>(builder);
      a.dy = builder.filled({one.batches(), one.rows, one.columns});
      a.da = builder.blank(a.a.shape());
      a.db = builder.blank(a.b.shape());
      return a;
    };
  };
  batched_parity_cases(list, build);
  list.parity("da alone", [](CaseBuilder& builder) {
    Arguments a = BatchedCase{2, 1, 3, 5, 7}.operands<Arguments>(builder);
    a.dy = builder.filled({2, 3, 5});
    a.da = builder.blank(a.a.shape());
    return a;
  });
  list.benchmark("32 heads of 128 x 128 x 64, b transposed",
                 build({32, 32, 128, 128, 64, OperandStyle::plain, OperandStyle::flagged}));
}

}  // namespace ingot
