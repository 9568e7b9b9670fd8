#include "kernels/routing/scatter.h"

namespace ingot {

void routing_scatter_reference(const RoutingScatter::Arguments& a, Context&) {
  for (std::int64_t slot = 0; slot < a.x.size(0); ++slot) {
    const std::int64_t choice = a.permutation(slot);
    for (std::int64_t i = 0; i < a.x.size(1); ++i) a.y(choice / a.y.size(1), choice % a.y.size(1), i) = a.x(slot, i);
  }
}

void routing_scatter_backward_reference(const RoutingScatterBackward::Arguments& a, Context&) {
  for (std::int64_t slot = 0; slot < a.dx.size(0); ++slot) {
    const std::int64_t choice = a.permutation(slot);
    for (std::int64_t i = 0; i < a.dx.size(1); ++i) {
      a.dx(slot, i) = a.dy(choice / a.dy.size(1), choice % a.dy.size(1), i);
    }
  }
}

}  // namespace ingot
