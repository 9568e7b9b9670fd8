// What a translated checkpoint still needs to be a GGUF file that every reader
// understands: numbers of the kinds that readers demand, heads whose pairs lie
// as the architecture's GGUF files have them, and rotary scaling where they
// keep it. Ingot's own keys are not written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/circuit/weights.h"
#include "model/files/metadata.h"
#include "model/template/head_rows.h"

namespace ingot {

struct GgufConventions {
  Metadata metadata;
  TurnedHeads interleaved;          // whose rows are to be interleaved
  std::vector<float> rope_factors;  // rope_freqs.weight, empty where there is none

  // For the tensor of this name: 0 where its rows stay.
  std::int64_t interleaved_heads(std::string_view tensor_name) const { return interleaved.of(tensor_name); }
};

Result<GgufConventions> follow_gguf_conventions(const Metadata& translated, const Weights& weights);

}  // namespace ingot
