#include "kernels/routing/slots_cuda.h"

#include "kernels/device/block.h"
#include "kernels/device/groups.h"

namespace ingot::device {

// A block an expert, which looks through all choices by itself: first how many lie before its own, then its own in
// their order.
INGOT_DEVICE_FUNCTION(group_choices, TokenGroups, 256) {
  const auto expert = static_cast<std::int32_t>(block_index());
  std::uint32_t before = 0;
  for (std::uint32_t choice = thread_index(); choice < parameters.choices; choice += thread_count()) {
    if (parameters.indices.at(choice) < expert) ++before;
  }
  std::uint32_t slot = block_sum(before);
  if (thread_index() == 0) {
    parameters.offsets(expert) = static_cast<std::int32_t>(slot);
    if (block_index() == 0) parameters.offsets(parameters.experts) = static_cast<std::int32_t>(parameters.choices);
  }
  for (std::uint32_t begin = 0; begin < parameters.choices; begin += thread_count()) {
    const std::uint32_t choice = begin + thread_index();
    const bool is_own = choice < parameters.choices && parameters.indices.at(choice) == expert;
    const Scanned<std::uint32_t> own = block_scan(is_own ? 1u : 0u);
    if (is_own) parameters.permutation(slot + own.inclusive - 1) = static_cast<std::int32_t>(choice);
    slot += own.total;
  }
}

INGOT_DEVICE_FUNCTION(gather_slots, SlotRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t slot, std::uint32_t group) {
    const std::uint32_t token = static_cast<std::uint32_t>(parameters.permutation(slot)) / parameters.per_token;
    float values[group_floats];
    load_group(values, parameters.x.row(token), group_floats * group, parameters.x.length, parameters.is_aligned);
    store_group(values, parameters.y.row(slot), group_floats * group, parameters.x.length, parameters.is_aligned);
  });
}

INGOT_DEVICE_FUNCTION(scatter_slots, SlotRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t slot, std::uint32_t group) {
    const auto choice = static_cast<std::uint32_t>(parameters.permutation(slot));
    float values[group_floats];
    load_group(values, parameters.x.row(slot), group_floats * group, parameters.x.length, parameters.is_aligned);
    store_group(values, parameters.y.row(choice), group_floats * group, parameters.x.length, parameters.is_aligned);
  });
}

INGOT_DEVICE_FUNCTION(invert_permutation, InvertedPermutation, 256) {
  const std::uint32_t slot = block_index() * thread_count() + thread_index();
  if (slot < parameters.slots) parameters.slot_of[parameters.permutation(slot)] = static_cast<std::int32_t>(slot);
}

INGOT_DEVICE_FUNCTION(combine_slots, CombinedRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t token, std::uint32_t group) {
    float sums[group_floats] = {0, 0, 0, 0};
    for (std::uint32_t j = 0; j < parameters.per_token; ++j) {
      const auto slot = static_cast<std::uint32_t>(parameters.slot_of[token * parameters.per_token + j]);
      const float weight = parameters.weights(token, j);
      float values[group_floats];
      load_group(values, parameters.x.row(slot), group_floats * group, parameters.x.length, parameters.is_aligned);
      INGOT_UNROLL
      for (unsigned i = 0; i < group_floats; ++i) sums[i] = fused_multiply_add(weight, values[i], sums[i]);
    }
    store_group(sums, parameters.y.row(token), group_floats * group, parameters.x.length, parameters.is_aligned);
  });
}

// A block an expert.
INGOT_DEVICE_FUNCTION(weigh_experts, ExpertLoads, 256) {
  const std::uint32_t expert = block_index();
  std::uint32_t count = 0;
  for (std::uint32_t choice = thread_index(); choice < parameters.choices; choice += thread_count()) {
    if (parameters.indices.at(choice) == static_cast<std::int32_t>(expert)) ++count;
  }
  double sum = 0;
  for (std::uint32_t token = thread_index(); token < parameters.tokens; token += thread_count()) {
    sum += static_cast<double>(parameters.probabilities(token, expert));
  }
  count = block_sum(count);
  sum = block_sum(sum);
  if (thread_index() != 0) return;
  const double mean = parameters.tokens == 0 ? 0 : sum / static_cast<double>(parameters.tokens);
  parameters.counts(expert) = static_cast<std::int32_t>(count);
  parameters.mean_probability(expert) = static_cast<float>(mean);
  parameters.terms[expert] =
      parameters.choices == 0 ? 0 : static_cast<double>(count) / static_cast<double>(parameters.choices) * mean;
}

INGOT_DEVICE_FUNCTION(sum_loads, ExpertLoads, 256) {
  double sum = 0;
  for (std::uint32_t expert = thread_index(); expert < parameters.experts; expert += thread_count()) {
    sum += parameters.terms[expert];
  }
  sum = block_sum(sum);
  if (thread_index() == 0) *parameters.loss = static_cast<float>(static_cast<double>(parameters.experts) * sum);
}

}  // namespace ingot::device
