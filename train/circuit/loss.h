// The training objective: a language model's pass whose result is compared with the tokens that really came next.
#pragma once

#include "model/circuit/circuit.h"

namespace ingot {

// i32 [tokens]: what should have been said; ignored_target where nothing is asked.
inline constexpr std::string_view loss_targets = "targets";
inline constexpr std::string_view loss_name = "loss";  // f32 [1]: the mean over tokens that are asked
inline constexpr std::int64_t ignored_target = -100;

// Appends the cross-entropy of the pass's result [tokens, vocabulary] and the targets. The result becomes an
// activation: nobody reads it after the loss.
Result<void> append_next_token_loss(Circuit& circuit);

}  // namespace ingot
