// Whole rows moved over threads. The C library's memcpy already uses the widest registers there are, so these variants
// ask nothing of the machine.
#include <cstring>

#include "kernels/routing/gather.h"
#include "kernels/routing/scatter.h"

namespace ingot {
namespace {

// Calls copy(slot, bytes of a row) for every slot.
template <class Copy>
void for_each_slot(Context& context, std::int64_t slots, std::int64_t width, Copy&& copy) {
  if (slots == 0 || width == 0) return;
  const std::int64_t bytes = width * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(slots, rows_per_chunk(2 * bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t slot = begin; slot < end; ++slot) copy(slot, static_cast<std::size_t>(bytes));
  });
}

}  // namespace

void routing_gather_rows(const RoutingGather::Arguments& a, Context& context) {
  const std::int64_t slots = a.permutation.size(0);
  if (slots == 0) return;
  const std::int64_t per_token = slots / a.x.size(0);
  for_each_slot(context, slots, a.x.size(1), [&](std::int64_t slot, std::size_t bytes) {
    std::memcpy(&a.y(slot, 0), &a.x(a.permutation(slot) / per_token, 0), bytes);
  });
}

void routing_scatter_rows(const RoutingScatter::Arguments& a, Context& context) {
  const std::int64_t per_token = a.y.size(1);
  for_each_slot(context, a.x.size(0), a.x.size(1), [&](std::int64_t slot, std::size_t bytes) {
    const std::int64_t choice = a.permutation(slot);
    std::memcpy(&a.y(choice / per_token, choice % per_token, 0), &a.x(slot, 0), bytes);
  });
}

void routing_scatter_backward_rows(const RoutingScatterBackward::Arguments& a, Context& context) {
  const std::int64_t per_token = a.dy.size(1);
  for_each_slot(context, a.dx.size(0), a.dx.size(1), [&](std::int64_t slot, std::size_t bytes) {
    const std::int64_t choice = a.permutation(slot);
    std::memcpy(&a.dx(slot, 0), &a.dy(choice / per_token, choice % per_token, 0), bytes);
  });
}

}  // namespace ingot
