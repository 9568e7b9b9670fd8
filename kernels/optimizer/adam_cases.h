#pragma once

#include "kernels/optimizer/adam.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

// Step 1 has the largest bias corrections, step 1000 almost none.
inline auto adam_case(std::int64_t step, double weight_decay, double epsilon) {
  return [=](CaseBuilder& builder, const Shape& shape) {
    AdamArguments a;
    a.gradient = builder.filled(shape);
    a.parameters = builder.filled(shape);
    a.first_moment = builder.filled(shape);
    // Without an epsilon a step is as exact as the second moment, and a denormal one is not exact.
    a.second_moment = epsilon == 0 && builder.regime() == Regime::tiny ? builder.filled(shape, Fill::uniform(0.01, 2))
                                                                       : filled_not_negative(builder, shape);
    a.learning_rate = 0.01;
    a.weight_decay = weight_decay;
    a.epsilon = epsilon;
    a.step = step;
    return a;
  };
}

template <class Op>
void add_adam_cases(CaseList<Op>& list) {
  add_update_cases(list, "step 1000 ", adam_case(1000, 0.1, 1e-8));
  add_update_cases(list, "step 1 ", adam_case(1, 0.1, 1e-8));
  add_update_cases(list, "neither decay nor epsilon ", adam_case(7, 0, 0));
  add_update_benchmarks(list, adam_case(100, 0.01, 1e-8));
}

inline void Adam::cases(CaseList<Adam>& list) { add_adam_cases(list); }
inline void AdamW::cases(CaseList<AdamW>& list) { add_adam_cases(list); }

}  // namespace ingot
