#include "kernels/sampling/family.h"

#include "kernels/sampling/choose.h"
#include "kernels/sampling/filter.h"
#include "kernels/sampling/repetition_penalty.h"

namespace ingot {

std::span<const Operation* const> sampling_operations() {
  static const Operation* const operations[] = {
      &describe_operation<RepetitionPenalty>(),
      &describe_operation<Temperature>(),
      &describe_operation<SamplingTopK>(),
      &describe_operation<TopP>(),
      &describe_operation<MinP>(),
      &describe_operation<Greedy>(),
      &describe_operation<Categorical>(),
  };
  return operations;
}

}  // namespace ingot
