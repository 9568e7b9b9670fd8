#include "kernels/routing/family.h"

#include "kernels/routing/combine.h"
#include "kernels/routing/gather.h"
#include "kernels/routing/group_tokens.h"
#include "kernels/routing/load_metrics.h"
#include "kernels/routing/router_top_k.h"
#include "kernels/routing/scatter.h"

namespace ingot {

std::span<const Operation* const> routing_operations() {
  static const Operation* const operations[] = {
      &describe_operation<RouterTopK>(),
      &describe_operation<RouterTopKBackward>(),
      &describe_operation<GroupTokens>(),
      &describe_operation<RoutingGather>(),
      &describe_operation<RoutingGatherBackward>(),
      &describe_operation<RoutingScatter>(),
      &describe_operation<RoutingScatterBackward>(),
      &describe_operation<RoutingCombine>(),
      &describe_operation<RoutingCombineBackward>(),
      &describe_operation<LoadMetrics>(),
      &describe_operation<LoadMetricsBackward>(),
  };
  return operations;
}

}  // namespace ingot
