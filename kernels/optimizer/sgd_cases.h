#pragma once

#include "kernels/optimizer/sgd.h"
#include "kernels/optimizer/update_cases.h"

namespace ingot {

inline void Sgd::cases(CaseList<Sgd>& list) {
  auto plain = [](CaseBuilder& builder, const Shape& shape) {
    Arguments a;
    a.gradient = builder.filled(shape);
    a.parameters = builder.filled(shape);
    a.learning_rate = 0.1;
    a.weight_decay = 0.01;
    return a;
  };
  auto with_momentum = [plain](bool nesterov, double dampening) {
    return [=](CaseBuilder& builder, const Shape& shape) {
      Arguments a = plain(builder, shape);
      a.buffer = builder.filled(shape);
      a.momentum = 0.9;
      a.dampening = dampening;
      a.nesterov = nesterov;
      return a;
    };
  };
  add_update_cases(list, "plain ", plain);
  add_update_cases(list, "momentum ", with_momentum(false, 0.25));
  add_update_cases(list, "nesterov ", with_momentum(true, 0));
  add_update_benchmarks(list, with_momentum(false, 0));
}

}  // namespace ingot
