#include "kernels/linear/family.h"

#include "kernels/linear/batched/matmul_batched.h"
#include "kernels/linear/convolution/conv2d.h"
#include "kernels/linear/fused/activated_matmul.h"
#include "kernels/linear/fused/gated_matmul.h"
#include "kernels/linear/fused/joint_matmul.h"
#include "kernels/linear/grouped/matmul_grouped.h"
#include "kernels/linear/int8/int8_matmul.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/matmul/matmul_backward.h"
#include "kernels/linear/pack/pack.h"
#include "kernels/linear/sparse/block_sparse_matmul.h"
#include "kernels/linear/sparse/two_four_matmul.h"

namespace ingot {

std::span<const Operation* const> linear_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Matmul>(),
      &describe_operation<MatmulBackwardInput>(),
      &describe_operation<MatmulBackwardWeight>(),
      &describe_operation<MatmulBackwardBias>(),
      &describe_operation<MatmulBatched>(),
      &describe_operation<MatmulBatchedBackward>(),
      &describe_operation<MatmulGrouped>(),
      &describe_operation<MatmulGroupedBackwardInput>(),
      &describe_operation<MatmulGroupedBackwardWeight>(),
      &describe_operation<GatedMatmul>(),
      &describe_operation<ActivatedMatmul>(),
      &describe_operation<JointMatmul>(),
      &describe_operation<Pack>(),
      &describe_operation<Unpack>(),
      &describe_operation<Int8Matmul>(),
      &describe_operation<BlockSparseMatmul>(),
      &describe_operation<BlockSparseMatmulBackward>(),
      &describe_operation<TwoFourMatmul>(),
      &describe_operation<TwoFourMatmulBackward>(),
      &describe_operation<Conv2d>(),
      &describe_operation<Conv2dBackward>(),
  };
  return operations;
}

}  // namespace ingot
