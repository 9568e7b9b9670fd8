#pragma once

#include "kernels/optimizer/accumulate_gradient.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

inline void AccumulateGradient::cases(CaseList<AccumulateGradient>& list) {
  auto build = [](double scale) {
    return [=](CaseBuilder& builder, const Shape& shape) {
      Arguments a;
      a.gradient = builder.filled(shape);
      a.scale = scale;
      a.accumulator = builder.filled(shape);
      return a;
    };
  };
  add_update_cases(list, "an eighth ", build(0.125));
  add_update_cases(list, "a third taken away ", build(-1.0 / 3));
  add_update_benchmarks(list, build(0.125));
}

}  // namespace ingot
