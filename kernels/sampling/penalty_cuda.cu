#include "kernels/sampling/rows_cuda.h"

#include "kernels/device/block.h"
#include "kernels/device/groups.h"

namespace ingot::device {

// Logits into y, and zeros for the counters of their tokens.
INGOT_DEVICE_FUNCTION(begin_penalties, PenalisedRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    const std::uint32_t at = group_floats * group;
    const std::uint32_t length = parameters.y.length;
    std::uint32_t* const occurrences = parameters.occurrences + std::uint64_t{row} * length;
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      if (at + i < length) occurrences[at + i] = 0;
    }
    if (parameters.y.data == parameters.logits.data) return;
    float values[group_floats];
    load_group(values, parameters.logits.row(row), at, length, parameters.is_aligned);
    store_group(values, parameters.y.row(row), at, length, parameters.is_aligned);
  });
}

// A block a row. Counts do not depend on who comes first; whoever marks a token first changes its logit, and it would
// be the same from any other. sampling::penalised says what is computed.
INGOT_DEVICE_FUNCTION(penalise_tokens, PenalisedRows, 256) {
  constexpr std::uint32_t mark = 0x80000000u;  // more than any count
  const std::uint32_t row = block_index();
  const std::int32_t* const history = parameters.history.row(row);
  float* const y = parameters.y.row(row);
  std::uint32_t* const occurrences = parameters.occurrences + std::uint64_t{row} * parameters.y.length;
  for (std::uint32_t j = thread_index(); j < parameters.history.length; j += thread_count()) {
    if (history[j] >= 0) atomic_add(occurrences + history[j], 1u);
  }
  synchronize_block();
  for (std::uint32_t j = thread_index(); j < parameters.history.length; j += thread_count()) {
    if (history[j] < 0) continue;
    const std::uint32_t count = atomic_maximum(occurrences + history[j], mark);
    if (count == mark) continue;
    const auto value = static_cast<double>(y[history[j]]);
    const auto repetition = static_cast<double>(parameters.repetition);
    const double scaled = value > 0 ? value / repetition : value * repetition;
    const double penalty = static_cast<double>(parameters.presence) +
                           static_cast<double>(parameters.frequency) * static_cast<double>(count);
    y[history[j]] = static_cast<float>(scaled - penalty);
  }
}

}  // namespace ingot::device
