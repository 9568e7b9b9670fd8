#include "kernels/loss/family.h"

#include "kernels/loss/cross_entropy.h"
#include "kernels/loss/mean_squared_error.h"
#include "kernels/loss/negative_log_likelihood.h"

namespace ingot {

std::span<const Operation* const> loss_operations() {
  static const Operation* const operations[] = {
      &describe_operation<CrossEntropy>(),          &describe_operation<CrossEntropyBackward>(),
      &describe_operation<NegativeLogLikelihood>(), &describe_operation<NegativeLogLikelihoodBackward>(),
      &describe_operation<MeanSquaredError>(),      &describe_operation<MeanSquaredErrorBackward>(),
  };
  return operations;
}

}  // namespace ingot
