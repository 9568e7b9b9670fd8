#pragma once

#include "kernels/optimizer/global_norm.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

inline void GlobalNorm::cases(CaseList<GlobalNorm>& list) {
  auto build = [](CaseBuilder& builder, const Shape& shape) {
    Arguments a;
    a.x = builder.filled(shape);
    a.norm = builder.blank({1});
    return a;
  };
  add_update_cases(list, "", build);
  add_update_benchmarks(list, build);
}

}  // namespace ingot
