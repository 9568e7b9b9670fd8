#include "kernels/device/windows.h"
#include "kernels/sampling/repetition_penalty.h"
#include "kernels/sampling/rows_cuda.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(penalty_cuda);
INGOT_DEVICE_FUNCTION_OF(penalty_cuda, begin_penalties);
INGOT_DEVICE_FUNCTION_OF(penalty_cuda, penalise_tokens);

// A counter a token.
std::size_t counted_bytes(const RepetitionPenalty::Arguments& a, int) {
  return static_cast<std::size_t>(a.logits.size(0) * a.logits.size(1)) * sizeof(std::uint32_t);
}

void run_repetition_penalty(const RepetitionPenalty::Arguments& a, Context& context) {
  if (a.logits.empty()) return;
  const DeviceRows<float> y = device_rows(a.y);
  const PenalisedRows rows = {.logits = device_rows(a.logits),
                              .history = device_rows(a.history),
                              .y = y,
                              .groups = RowGroups(y.count, (y.length + 3) / 4),
                              .occurrences = reinterpret_cast<std::uint32_t*>(context.scratch.data()),
                              .repetition = a.repetition,
                              .presence = a.presence,
                              .frequency = a.frequency,
                              .is_aligned = groups_are_aligned(a.logits) && groups_are_aligned(a.y)};
  context.queue->launch(begin_penalties_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                        rows);
  if (a.history.empty()) return;
  context.queue->launch(penalise_tokens_function, {.blocks = y.count, .threads = 256}, rows);
}

}  // namespace

constinit const Variant<RepetitionPenalty> repetition_penalty_cuda = {.name = "cuda",
                                                                      .needs = {Feature::sm_80},
                                                                      .run = run_repetition_penalty,
                                                                      .accepts =
                                                                          [](const RepetitionPenalty::Arguments& a) {
                                                                            return fits_device(a.logits.shape()) &&
                                                                                   fits_device(a.history.shape());
                                                                          },
                                                                      .scratch_bytes = counted_bytes,
                                                                      .device_function = &penalise_tokens_function};

}  // namespace ingot
