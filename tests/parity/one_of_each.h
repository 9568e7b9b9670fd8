// One operation of every family whose threads only hand out rows: what the thread sanitizer looks at beside the
// families that it sees whole. Their sources are listed in kernels/CMakeLists.txt, because a whole family takes minutes
// there. Attention is left out: its many shapes alone take minutes more, and parity compares its threads bit for bit.
#pragma once

#include "kernels/activation/rectifier_curves.h"
#include "kernels/cache/store.h"
#include "kernels/contract/operation.h"
#include "kernels/elementwise/reduce.h"
#include "kernels/layout/scatter_add.h"
#include "kernels/position/rope_apply.h"
#include "kernels/quantization/quantize_activations.h"
#include "kernels/sampling/choose.h"
#include "kernels/state/mamba2.h"

namespace ingot {

inline std::span<const Operation* const> one_of_each_operations() {
  static const Operation* const operations[] = {
      &describe_operation<ScatterAdd>(),
      &describe_operation<ReduceSum>(),
      &describe_operation<ReduceSumBackward>(),
      &describe_operation<UnaryActivation<LeakyRelu>>(),
      &describe_operation<UnaryActivationBackward<LeakyRelu>>(),
      &describe_operation<RopeApply>(),
      &describe_operation<RopeApplyBackward>(),
      &describe_operation<StorePaged>(),
      &describe_operation<Mamba2>(),
      &describe_operation<Mamba2Backward>(),
      &describe_operation<QuantizeActivations>(),
      &describe_operation<Categorical>(),
      &describe_operation<ScatterAddBackward>(),
  };
  return operations;
}

}  // namespace ingot
