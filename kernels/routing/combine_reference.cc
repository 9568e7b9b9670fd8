#include <vector>

#include "kernels/routing/combine.h"
#include "kernels/routing/permutation.h"

namespace ingot {

void routing_combine_reference(const RoutingCombine::Arguments& a, Context&) {
  const std::int64_t per_token = a.weights.size(1);
  std::vector<std::int32_t> slot_of(static_cast<std::size_t>(a.permutation.size(0)));
  invert_permutation(a.permutation, slot_of);
  for (std::int64_t token = 0; token < a.y.size(0); ++token) {
    for (std::int64_t i = 0; i < a.y.size(1); ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < per_token; ++j) {
        sum += double{a.weights(token, j)} * a.x(slot_of[static_cast<std::size_t>(token * per_token + j)], i);
      }
      a.y(token, i) = static_cast<float>(sum);
    }
  }
}

void routing_combine_backward_reference(const RoutingCombineBackward::Arguments& a, Context&) {
  const std::int64_t per_token = a.weights.size(1);
  for (std::int64_t slot = 0; slot < a.x.size(0); ++slot) {
    const std::int64_t token = a.permutation(slot) / per_token;
    const std::int64_t j = a.permutation(slot) % per_token;
    double sum = 0;
    for (std::int64_t i = 0; i < a.x.size(1); ++i) {
      sum += double{a.dy(token, i)} * a.x(slot, i);
      a.dx(slot, i) = static_cast<float>(double{a.weights(token, j)} * a.dy(token, i));
    }
    a.dweights(token, j) = static_cast<float>(sum);
  }
}

}  // namespace ingot
