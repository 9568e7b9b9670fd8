#pragma once

#include "kernels/optimizer/adagrad.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

inline void Adagrad::cases(CaseList<Adagrad>& list) {
  auto build = [](double weight_decay, double epsilon) {
    return [=](CaseBuilder& builder, const Shape& shape) {
      Arguments a;
      a.gradient = builder.filled(shape);
      a.parameters = builder.filled(shape);
      // Without an epsilon a sum that rounds to nothing divides by it: then the sum itself must keep off zero.
      a.sum_of_squares =
          epsilon > 0 ? filled_not_negative(builder, shape) : builder.filled(shape, Fill::uniform(0.5, 2));
      a.weight_decay = weight_decay;
      a.epsilon = epsilon;
      return a;
    };
  };
  add_update_cases(list, "with decay ", build(0.05, 1e-10));
  add_update_cases(list, "neither decay nor epsilon ", build(0, 0));
  add_update_benchmarks(list, build(0, 1e-10));
}

}  // namespace ingot
