#include "kernels/elementwise/family.h"

#include "kernels/elementwise/bias.h"
#include "kernels/elementwise/binary_backward.h"
#include "kernels/elementwise/reduce.h"
#include "kernels/elementwise/top_k.h"
#include "kernels/elementwise/unary.h"

namespace ingot {

std::span<const Operation* const> elementwise_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Add>(),
      &describe_operation<AddBackward>(),
      &describe_operation<Subtract>(),
      &describe_operation<SubtractBackward>(),
      &describe_operation<Multiply>(),
      &describe_operation<MultiplyBackward>(),
      &describe_operation<Divide>(),
      &describe_operation<DivideBackward>(),
      &describe_operation<Scale>(),
      &describe_operation<ScaleBackward>(),
      &describe_operation<Bias>(),
      &describe_operation<BiasBackward>(),
      &describe_operation<ResidualAdd>(),
      &describe_operation<ResidualAddBackward>(),
      &describe_operation<Clamp>(),
      &describe_operation<ClampBackward>(),
      &describe_operation<Exponential>(),
      &describe_operation<ExponentialBackward>(),
      &describe_operation<SquareRoot>(),
      &describe_operation<SquareRootBackward>(),
      &describe_operation<ReduceSum>(),
      &describe_operation<ReduceSumBackward>(),
      &describe_operation<ReduceMean>(),
      &describe_operation<ReduceMeanBackward>(),
      &describe_operation<ReduceSumOfSquares>(),
      &describe_operation<ReduceSumOfSquaresBackward>(),
      &describe_operation<ReduceMax>(),
      &describe_operation<ReduceMaxBackward>(),
      &describe_operation<Argmax>(),
      &describe_operation<ElementwiseTopK>(),
      &describe_operation<ElementwiseTopKBackward>(),
  };
  return operations;
}

}  // namespace ingot
