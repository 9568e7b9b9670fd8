#include "kernels/norm/family.h"

#include "kernels/norm/batch_norm.h"
#include "kernels/norm/coded_rms_norm.h"
#include "kernels/norm/group_norm.h"
#include "kernels/norm/l2_norm.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/qk_norm.h"
#include "kernels/norm/residual_rms_norm.h"
#include "kernels/norm/rms_norm.h"

namespace ingot {

std::span<const Operation* const> norm_operations() {
  static const Operation* const operations[] = {
      &describe_operation<RmsNorm>(),         &describe_operation<RmsNormBackward>(),
      &describe_operation<ResidualRmsNorm>(), &describe_operation<ResidualRmsNormBackward>(),
      &describe_operation<QkNorm>(),          &describe_operation<QkNormBackward>(),
      &describe_operation<L2Norm>(),          &describe_operation<L2NormBackward>(),
      &describe_operation<LayerNorm>(),       &describe_operation<LayerNormBackward>(),
      &describe_operation<GroupNorm>(),       &describe_operation<GroupNormBackward>(),
      &describe_operation<BatchNorm>(),       &describe_operation<CodedRmsNorm>(),
  };
  return operations;
}

}  // namespace ingot
