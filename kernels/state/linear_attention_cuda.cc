#include "kernels/state/linear_attention_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/state/gated_delta_net.h"
#include "machine/gpu/queue.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(linear_attention_cuda);
INGOT_DEVICE_FUNCTION_OF(linear_attention_cuda, recur_kept_heads);
INGOT_DEVICE_FUNCTION_OF(linear_attention_cuda, recur_stored_heads);

DeviceTensor<const float> optional_tensor(const View<const float>& view) {
  return is_present(view) ? device_tensor(view) : DeviceTensor<const float>();
}

bool accepts_heads(const LinearAttention::Arguments& a) {
  for (const View<const float>* view : {&a.query, &a.key, &a.value}) {
    if (!fits_device(view->shape())) return false;
  }
  const std::int64_t tiles = divide_rounding_up(a.value.size(3), state_columns);
  return fits_device(a.y.shape()) && fits_device(a.final_state.shape()) &&
         fits_device({a.final_state.size(0) * a.final_state.size(1) * tiles});
}

void run_heads(const LinearAttention::Arguments& a, Context& context) {
  if (a.final_state.empty()) return;
  const auto sizes = LinearAttentionSizes::of(a);
  const std::int64_t tiles = divide_rounding_up(sizes.value_width, state_columns);
  const RecurrentHeads heads = {.query = device_tensor(a.query),
                                .key = device_tensor(a.key),
                                .value = device_tensor(a.value),
                                .decay = optional_tensor(a.decay),
                                .beta = optional_tensor(a.beta),
                                .initial_state = optional_tensor(a.initial_state),
                                .y = device_tensor(a.y),
                                .final_state = device_tensor(a.final_state),
                                .column_tiles = static_cast<std::uint32_t>(tiles),
                                .states_per_key = static_cast<std::uint32_t>(sizes.heads / sizes.key_heads),
                                .outputs_per_state = static_cast<std::uint32_t>(sizes.outputs_per_state()),
                                .outputs_per_query = static_cast<std::uint32_t>(sizes.outputs() / sizes.query_heads),
                                .scale = a.scale};
  const bool is_kept = sizes.key_width <= kept_state_rows;
  context.queue->launch(
      is_kept ? recur_kept_heads_function : recur_stored_heads_function,
      {.blocks = static_cast<std::uint32_t>(sizes.batch * sizes.heads * tiles), .threads = state_columns * state_warps},
      heads);
}

}  // namespace

constinit const Variant<LinearAttention> linear_attention_cuda = {.name = "cuda",
                                                                  .needs = {Feature::sm_80},
                                                                  .run = run_heads,
                                                                  .accepts = accepts_heads,
                                                                  .device_function = &recur_kept_heads_function};

constinit const Variant<GatedDeltaNet> gated_delta_net_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = [](const GatedDeltaNet::Arguments& a, Context& context) { run_heads(as_linear_attention(a), context); },
    .accepts = [](const GatedDeltaNet::Arguments& a) { return accepts_heads(as_linear_attention(a)); },
    .device_function = &recur_kept_heads_function};

}  // namespace ingot
