#include "kernels/state/family.h"

#include "kernels/state/causal_conv1d.h"
#include "kernels/state/gated_delta_net.h"
#include "kernels/state/linear_attention.h"
#include "kernels/state/mamba2.h"
#include "kernels/state/selective_scan.h"

namespace ingot {

std::span<const Operation* const> state_operations() {
  static const Operation* const operations[] = {
      &describe_operation<CausalConv1d>(),    &describe_operation<CausalConv1dBackward>(),
      &describe_operation<LinearAttention>(), &describe_operation<LinearAttentionBackward>(),
      &describe_operation<GatedDeltaNet>(),   &describe_operation<GatedDeltaNetBackward>(),
      &describe_operation<SelectiveScan>(),   &describe_operation<SelectiveScanBackward>(),
      &describe_operation<Mamba2>(),          &describe_operation<Mamba2Backward>(),
  };
  return operations;
}

}  // namespace ingot
