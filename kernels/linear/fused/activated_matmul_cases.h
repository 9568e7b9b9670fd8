#pragma once

#include "kernels/linear/fused/activated_matmul.h"
#include "kernels/linear/fused/fused_cases.h"

namespace ingot {

inline void ActivatedMatmul::cases(CaseList<ActivatedMatmul>& list) {
  auto build = [](FusedCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      one.fill_input(builder, a);
      a.weights = one.weights(builder);
      a.bias = one.bias(builder);
      a.curve = one.curve;
      a.y = one.y(builder);
      return a;
    };
  };
  for_each_fused_case([&](FusedCase one) { list.parity(one.text(), build(one)); });
  list.benchmark("1 x 3072 x 768 q8_0", build({1, 3072, 768, DType::q8_0, FusedCurve::gelu_tanh, true}));
  list.benchmark("512 x 3072 x 768 q8_0", build({512, 3072, 768, DType::q8_0, FusedCurve::gelu_tanh, true}));
}

}  // namespace ingot
