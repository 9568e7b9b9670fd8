// What a model's file advises about sampling: GGUF's keys general.sampling.*, into which a folder's
// generation_config.json is translated. What a user asks for wins.
#pragma once

#include <optional>

#include "engine/sampler.h"
#include "model/files/metadata.h"

namespace ingot {

// Absent where the file says nothing.
struct SamplingAdvice {
  std::optional<double> temperature, top_p, min_p, repetition;
  std::optional<std::int64_t> top_k, penalty_window;
};

// A sampler of this program's has no mirostat and no xtc: a file that switches them on is refused by name.
Result<SamplingAdvice> read_sampling_advice(const Metadata& metadata);

// Takes what is advised.
void follow(const SamplingAdvice& advice, SamplerOptions& options);

}  // namespace ingot
