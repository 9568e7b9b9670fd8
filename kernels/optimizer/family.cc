#include "kernels/optimizer/family.h"

#include "kernels/optimizer/accumulate_gradient.h"
#include "kernels/optimizer/adagrad.h"
#include "kernels/optimizer/adam.h"
#include "kernels/optimizer/clip_by_norm.h"
#include "kernels/optimizer/global_norm.h"
#include "kernels/optimizer/lion.h"
#include "kernels/optimizer/sgd.h"

namespace ingot {

std::span<const Operation* const> optimizer_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Sgd>(),        &describe_operation<Adam>(),
      &describe_operation<AdamW>(),      &describe_operation<Adagrad>(),
      &describe_operation<Lion>(),       &describe_operation<GlobalNorm>(),
      &describe_operation<ClipByNorm>(), &describe_operation<AccumulateGradient>(),
  };
  return operations;
}

}  // namespace ingot
