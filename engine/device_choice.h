// Choosing tokens on a device, from the logits of a pass to the number of a token, without the host.
#pragma once

#include <span>

#include "engine/token_choice.h"
#include "kernels/contract/context.h"
#include "kernels/contract/table.h"
#include "tensor/view.h"

namespace ingot {

// Rows of outputs one after another that are chosen from by the same rule.
struct ChoiceGroup {
  std::int64_t rows = 0;
  ChoiceRule rule;
  bool operator==(const ChoiceGroup&) const = default;
};

// All of it lies on the device. The logits are overwritten.
struct ChoiceTensors {
  View<float> logits;          // [rows, vocabulary]
  View<const float> uniforms;  // [rows]
  View<std::int32_t> tokens;   // [rows]; sampling::no_token where no logit is a number
};

// Scratch that choosing from such logits takes, by whatever rule.
std::size_t choice_scratch_bytes(const KernelTable& table, const ChoiceTensors& tensors, int threads);

// Puts it into the context's queue. Precondition: the groups have the logits' rows.
Result<void> choose_tokens(const KernelTable& table, const ChoiceTensors& tensors, std::span<const ChoiceGroup> groups,
                           Context& context);

}  // namespace ingot
