#include <vector>

#include "kernels/routing/gather.h"
#include "kernels/routing/permutation.h"

namespace ingot {

void routing_gather_reference(const RoutingGather::Arguments& a, Context&) {
  const std::int64_t slots = a.permutation.size(0);
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const std::int64_t token = a.permutation(slot) / (slots / a.x.size(0));
    for (std::int64_t i = 0; i < a.x.size(1); ++i) a.y(slot, i) = a.x(token, i);
  }
}

void routing_gather_backward_reference(const RoutingGatherBackward::Arguments& a, Context&) {
  const std::int64_t tokens = a.dx.size(0);
  if (tokens == 0) return;
  const std::int64_t per_token = a.permutation.size(0) / tokens;
  std::vector<std::int32_t> slot_of(static_cast<std::size_t>(a.permutation.size(0)));
  invert_permutation(a.permutation, slot_of);
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t i = 0; i < a.dx.size(1); ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < per_token; ++j) {
        sum += a.dy(slot_of[static_cast<std::size_t>(token * per_token + j)], i);
      }
      a.dx(token, i) = static_cast<float>(sum);
    }
  }
}

}  // namespace ingot
