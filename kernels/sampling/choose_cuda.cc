#include "kernels/sampling/choose.h"
#include "kernels/sampling/sampling_scratch.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(choose_cuda);
INGOT_DEVICE_FUNCTION_OF(choose_cuda, find_greatest);
INGOT_DEVICE_FUNCTION_OF(choose_cuda, sum_weights);
INGOT_DEVICE_FUNCTION_OF(choose_cuda, choose_greatest);
INGOT_DEVICE_FUNCTION_OF(choose_cuda, draw_tokens);

void run_greedy(const Greedy::Arguments& a, Context& context) {
  if (a.logits.empty()) return;
  const SamplingRows rows = sampling::sampling_rows(a.logits, sampling::Weights::unused, context);
  sampling::prepare_rows(*context.queue, rows);
  context.queue->launch(choose_greatest_function, {.blocks = rows.logits.count, .threads = 256},
                        ChosenTokens{.rows = rows, .uniform = nullptr, .tokens = a.tokens.data()});
}

void run_categorical(const Categorical::Arguments& a, Context& context) {
  if (a.logits.empty()) return;
  const SamplingRows rows = sampling::sampling_rows(a.logits, sampling::Weights::summed, context);
  sampling::prepare_rows(*context.queue, rows);
  context.queue->launch(draw_tokens_function, {.blocks = rows.logits.count, .threads = 256},
                        ChosenTokens{.rows = rows, .uniform = a.uniform.data(), .tokens = a.tokens.data()});
}

}  // namespace

void sampling::prepare_rows(Queue& queue, const SamplingRows& rows) {
  queue.launch(find_greatest_function, {.blocks = rows.logits.count * rows.scratch.pieces, .threads = 256}, rows);
  if (rows.scratch.block_sums == nullptr) return;
  queue.launch(sum_weights_function, {.blocks = rows.logits.count * rows.scratch.blocks, .threads = 256}, rows);
}

constinit const Variant<Greedy> greedy_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_greedy,
    .accepts = [](const Greedy::Arguments& a) { return sampling::fits_sampling(a.logits); },
    .scratch_bytes = [](const Greedy::Arguments& a,
                        int) { return sampling::device_scratch_bytes(a.logits, sampling::Weights::unused); },
    .device_function = &choose_greatest_function};

constinit const Variant<Categorical> categorical_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_categorical,
    .accepts = [](const Categorical::Arguments& a) { return sampling::fits_sampling(a.logits); },
    .scratch_bytes = [](const Categorical::Arguments& a,
                        int) { return sampling::device_scratch_bytes(a.logits, sampling::Weights::summed); },
    .device_function = &draw_tokens_function};

}  // namespace ingot
