// The second product has fewer columns than the first, the third a type of its own where its block allows.
#pragma once

#include "kernels/linear/fused/fused_cases.h"
#include "kernels/linear/fused/joint_matmul.h"

namespace ingot {

inline void JointMatmul::cases(CaseList<JointMatmul>& list) {
  auto build = [](FusedCase one, bool with_third) {
    return [one, with_third](CaseBuilder& builder) {
      FusedCase second = one;
      second.columns = (one.columns + 1) / 2;
      FusedCase third = second;
      if (block_elements(one.type) == 256) third.type = DType::q6_k;
      if (one.type == DType::q4_0) third.type = DType::q8_0;
      Arguments a;
      one.fill_input(builder, a);
      a.first_weights = one.weights(builder);
      a.second_weights = second.weights(builder);
      a.first_bias = one.bias(builder);
      a.first = one.y(builder);
      a.second = second.y(builder);
      if (with_third) {
        a.third_weights = third.weights(builder);
        a.third_bias = third.bias(builder);
        a.third = third.y(builder);
      }
      return a;
    };
  };
  for_each_fused_case([&](FusedCase one) { list.parity(one.text(), build(one, true)); });
  list.parity("two products", build({3, 17, 96, DType::q8_0}, false));
  for (DType type : {DType::q4_1, DType::q8_0}) {
    list.benchmark("1 x 576 x 576 " + std::string(name_of(type)), build({1, 576, 576, type}, true));
    list.benchmark("512 x 576 x 576 " + std::string(name_of(type)), build({512, 576, 576, type}, true));
  }
}

}  // namespace ingot
