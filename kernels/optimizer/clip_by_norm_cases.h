#pragma once

#include "kernels/optimizer/clip_by_norm.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

inline void ClipByNorm::cases(CaseList<ClipByNorm>& list) {
  auto build = [](Fill norm) {
    return [=](CaseBuilder& builder, const Shape& shape) {
      Arguments a;
      a.norm = builder.filled({1}, norm);
      a.x = builder.filled(shape);
      return a;
    };
  };
  add_update_cases(list, "beyond the norm ", build(Fill::uniform(2, 50)));
  add_update_cases(list, "within the norm ", build(Fill::uniform(0, 0.9)));
  add_update_cases(list, "norm NaN ", build(Fill::constant(std::nan(""))));
  add_update_cases(list, "norm infinite ", build(Fill::constant(HUGE_VAL)));
  add_update_benchmarks(list, build(Fill::constant(4)));
}

}  // namespace ingot
