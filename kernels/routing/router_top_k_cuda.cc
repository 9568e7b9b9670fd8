#include "kernels/routing/router_top_k_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/routing/router_top_k.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(router_top_k_cuda);
INGOT_DEVICE_FUNCTION_OF(router_top_k_cuda, router_rows);

void run_router_top_k(const RouterTopK::Arguments& a, Context& context) {
  if (a.logits.empty()) return;
  const bool has_bias = is_present(a.selection_bias);
  const RouterRows rows = {.logits = device_rows(a.logits),
                           .indices = device_rows(a.indices),
                           .weights = device_rows(a.weights),
                           .bias = has_bias ? a.selection_bias.data() : nullptr,
                           .bias_stride = has_bias ? a.selection_bias.stride(0) : 0,
                           .least_sum = router_least_sum,
                           .scaling = a.scaling,
                           .is_sigmoid = a.score == RouterScore::sigmoid,
                           .normalises = a.normalise};
  context.queue->launch(router_rows_function, {.blocks = (rows.logits.count + 7) / 8, .threads = 256}, rows);
}

}  // namespace

constinit const Variant<RouterTopK> router_top_k_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_router_top_k,
    .accepts = [](const RouterTopK::Arguments& a) { return a.groups == 1 && fits_device(a.logits.shape()); },
    .device_function = &router_rows_function};

}  // namespace ingot
