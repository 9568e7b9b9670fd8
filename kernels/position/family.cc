#include "kernels/position/family.h"

#include "kernels/position/alibi_slopes.h"
#include "kernels/position/learned.h"
#include "kernels/position/rope.h"
#include "kernels/position/rope_apply.h"
#include "kernels/position/rope_table.h"
#include "kernels/position/sinusoidal.h"

namespace ingot {

std::span<const Operation* const> position_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Rope>(),        &describe_operation<JointRope>(), &describe_operation<RopeBackward>(),
      &describe_operation<RopeTable>(),   &describe_operation<RopeApply>(), &describe_operation<RopeApplyBackward>(),
      &describe_operation<Sinusoidal>(),  &describe_operation<Learned>(),   &describe_operation<LearnedBackward>(),
      &describe_operation<AlibiSlopes>(),
  };
  return operations;
}

}  // namespace ingot
