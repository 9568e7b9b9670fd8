#include "kernels/routing/slots_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/routing/combine.h"
#include "kernels/routing/gather.h"
#include "kernels/routing/group_tokens.h"
#include "kernels/routing/load_metrics.h"
#include "kernels/routing/permutation.h"
#include "kernels/routing/scatter.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(slots_cuda);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, group_choices);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, gather_slots);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, scatter_slots);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, invert_permutation);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, combine_slots);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, weigh_experts);
INGOT_DEVICE_FUNCTION_OF(slots_cuda, sum_loads);

void run_group_tokens(const GroupTokens::Arguments& a, Context& context) {
  const auto experts = static_cast<std::uint32_t>(a.offsets.size(0) - 1);
  context.queue->launch(group_choices_function, {.blocks = experts, .threads = 256},
                        TokenGroups{.indices = device_tensor(a.indices),
                                    .permutation = device_tensor(a.permutation),
                                    .offsets = device_tensor(a.offsets),
                                    .choices = static_cast<std::uint32_t>(a.indices.count()),
                                    .experts = experts});
}

// Both ways there is a slot for each row of `slots`.
SlotRows slot_rows(const View<const float>& x, const View<float>& y, const View<const std::int32_t>& permutation,
                   std::int64_t per_token) {
  const auto width = static_cast<std::uint32_t>(x.shape().last());
  return {.x = device_rows(x),
          .y = device_rows(y),
          .permutation = device_tensor(permutation),
          .groups = RowGroups(static_cast<std::uint32_t>(permutation.size(0)), (width + 3) / 4),
          .per_token = static_cast<std::uint32_t>(per_token),
          .is_aligned = groups_are_aligned(x) && groups_are_aligned(y)};
}

void run_routing_gather(const RoutingGather::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const SlotRows rows = slot_rows(a.x, a.y, a.permutation, a.permutation.size(0) / a.x.size(0));
  context.queue->launch(gather_slots_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads}, rows);
}

void run_routing_scatter(const RoutingScatter::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const SlotRows rows = slot_rows(a.x, a.y, a.permutation, a.y.size(1));
  context.queue->launch(scatter_slots_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads}, rows);
}

void run_routing_combine(const RoutingCombine::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  auto* const slot_of = reinterpret_cast<std::int32_t*>(context.scratch.data());
  const auto slots = static_cast<std::uint32_t>(a.permutation.size(0));
  context.queue->launch(
      invert_permutation_function, {.blocks = (slots + 255) / 256, .threads = 256},
      InvertedPermutation{.permutation = device_tensor(a.permutation), .slot_of = slot_of, .slots = slots});
  const DeviceRows<float> y = device_rows(a.y);
  const CombinedRows rows = {.x = device_rows(a.x),
                             .y = y,
                             .weights = device_tensor(a.weights),
                             .slot_of = slot_of,
                             .groups = RowGroups(y.count, (y.length + 3) / 4),
                             .per_token = static_cast<std::uint32_t>(a.weights.size(1)),
                             .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.y)};
  context.queue->launch(combine_slots_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads}, rows);
}

void run_load_metrics(const LoadMetrics::Arguments& a, Context& context) {
  const auto experts = static_cast<std::uint32_t>(a.probabilities.size(1));
  const ExpertLoads loads = {.probabilities = device_tensor(a.probabilities),
                             .indices = device_tensor(a.indices),
                             .counts = device_tensor(a.counts),
                             .mean_probability = device_tensor(a.mean_probability),
                             .loss = a.loss.data(),
                             .terms = reinterpret_cast<double*>(context.scratch.data()),
                             .tokens = static_cast<std::uint32_t>(a.probabilities.size(0)),
                             .choices = static_cast<std::uint32_t>(a.indices.count()),
                             .experts = experts};
  context.queue->launch(weigh_experts_function, {.blocks = experts, .threads = 256}, loads);
  context.queue->launch(sum_loads_function, {.blocks = 1, .threads = 256}, loads);
}

}  // namespace

constinit const Variant<GroupTokens> group_tokens_cuda = {.name = "cuda",
                                                          .needs = {Feature::sm_80},
                                                          .run = run_group_tokens,
                                                          .accepts =
                                                              [](const GroupTokens::Arguments& a) {
                                                                return fits_device(a.indices.shape()) &&
                                                                       fits_device(a.offsets.shape());
                                                              },
                                                          .device_function = &group_choices_function};

constinit const Variant<RoutingGather> routing_gather_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_routing_gather,
    .accepts = [](const RoutingGather::Arguments& a) { return fits_device(a.x.shape()) && fits_device(a.y.shape()); },
    .device_function = &gather_slots_function};

constinit const Variant<RoutingScatter> routing_scatter_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_routing_scatter,
    .accepts = [](const RoutingScatter::Arguments& a) { return fits_device(a.x.shape()) && fits_device(a.y.shape()); },
    .device_function = &scatter_slots_function};

constinit const Variant<RoutingCombine> routing_combine_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_routing_combine,
    .accepts = [](const RoutingCombine::Arguments& a) { return fits_device(a.x.shape()) && fits_device(a.y.shape()); },
    .scratch_bytes = [](const RoutingCombine::Arguments& a, int) { return inverse_bytes(a.permutation); },
    .device_function = &combine_slots_function};

constinit const Variant<LoadMetrics> load_metrics_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_load_metrics,
    .accepts =
        [](const LoadMetrics::Arguments& a) {
          return fits_device(a.probabilities.shape()) && fits_device(a.indices.shape());
        },
    .scratch_bytes = [](const LoadMetrics::Arguments& a,
                        int) { return static_cast<std::size_t>(a.probabilities.size(1)) * sizeof(double); },
    .device_function = &weigh_experts_function};

}  // namespace ingot
