#pragma once

#include "kernels/linear/fused/fused_cases.h"
#include "kernels/linear/fused/gated_matmul.h"

namespace ingot {

inline void GatedMatmul::cases(CaseList<GatedMatmul>& list) {
  auto build = [](FusedCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      one.fill_input(builder, a);
      a.gate_weights = one.weights(builder);
      a.up_weights = one.weights(builder);
      a.gate_bias = one.bias(builder);
      a.up_bias = one.bias(builder);
      a.curve = one.curve;
      a.y = one.y(builder);
      return a;
    };
  };
  for_each_fused_case([&](FusedCase one) { list.parity(one.text(), build(one)); });
  list.parity("weights of two types", [](CaseBuilder& builder) {
    Arguments a;
    const FusedCase gate{3, 21, 512, DType::q4_k};
    const FusedCase up{3, 21, 512, DType::q6_k};
    gate.fill_input(builder, a);
    a.gate_weights = gate.weights(builder);
    a.up_weights = up.weights(builder);
    a.y = gate.y(builder);
    return a;
  });
  auto benchmark = [&](FusedCase one) { list.benchmark(one.text(), build(one)); };
  for (DType type : {DType::q4_1, DType::q8_0}) benchmark({1, 1536, 576, type});
  for (DType type : {DType::q4_0, DType::q4_k, DType::bf16}) benchmark({1, 8192, 2048, type});
  for (DType type : {DType::q4_0, DType::q4_k}) benchmark({512, 2048, 2048, type});
}

}  // namespace ingot
