#pragma once

#include "kernels/optimizer/lion.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

inline void Lion::cases(CaseList<Lion>& list) {
  auto build = [](double weight_decay) {
    return [=](CaseBuilder& builder, const Shape& shape) {
      Arguments a;
      a.gradient = builder.filled(shape);
      a.parameters = builder.filled(shape);
      a.momentum = builder.filled(shape);
      a.learning_rate = 0.01;
      a.weight_decay = weight_decay;
      return a;
    };
  };
  add_update_cases(list, "with decay ", build(0.1));
  add_update_cases(list, "without decay ", build(0));
  // momentum = -gradient with equal shares: every sum is exactly zero, where a rounding would show as a sign.
  list.parity("sums of zero", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> gradient = builder.filled({101});
    a.gradient = gradient;
    a.parameters = builder.filled({101});
    a.momentum = builder.blank({101});
    for (std::int64_t i = 0; i < 101; ++i) a.momentum(i) = -gradient(i);
    a.beta1 = 0.5;
    return a;
  });
  add_update_benchmarks(list, build(0.1));
}

}  // namespace ingot
