#include "kernels/elementwise/top_k_cuda.h"

#include <bit>

#include "kernels/device/windows.h"
#include "kernels/elementwise/top_k.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(top_k_cuda);
INGOT_DEVICE_FUNCTION_OF(top_k_cuda, top_k_rows);

std::uint32_t top_k_room(const ElementwiseTopK::Arguments& a) {
  return std::bit_ceil(static_cast<std::uint32_t>(a.values.shape().last()));
}

std::size_t top_k_list_bytes(const ElementwiseTopK::Arguments& a, int) {
  const std::size_t room = top_k_room(a);
  if (room <= top_k_shared_room) return 0;
  return static_cast<std::size_t>(a.x.count() / a.x.shape().last()) * room * sizeof(std::int64_t);
}

void run_top_k(const ElementwiseTopK::Arguments& a, Context& context) {
  if (a.values.empty()) return;
  const std::uint32_t room = top_k_room(a);
  const bool is_shared = room <= top_k_shared_room;
  const DeviceTopK top = {.x = device_rows(a.x),
                          .values = device_rows(a.values),
                          .indices = device_rows(a.indices),
                          .kept = is_shared ? nullptr : reinterpret_cast<std::int64_t*>(context.scratch.data()),
                          .room = room,
                          .largest = a.largest};
  const std::uint32_t shared = is_shared ? room * static_cast<std::uint32_t>(sizeof(std::int64_t)) : 0;
  context.queue->launch(top_k_rows_function,
                        {.blocks = top.x.count, .threads = top.x.length <= 1024 ? 128u : 1024u, .shared_bytes = shared},
                        top);
}

}  // namespace

constinit const Variant<ElementwiseTopK> top_k_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_top_k,
    .accepts = [](const ElementwiseTopK::Arguments& a) { return fits_device(a.x.shape()); },
    .scratch_bytes = top_k_list_bytes,
    .device_function = &top_k_rows_function};

}  // namespace ingot
