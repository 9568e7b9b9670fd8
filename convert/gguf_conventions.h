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

namespace ingot {

struct GgufConventions {
  Metadata metadata;
  // Heads whose rows are to be interleaved in attn_q and attn_k; 0: none are.
  std::int64_t query_heads = 0;
  std::int64_t key_heads = 0;
  std::vector<float> rope_factors;  // rope_freqs.weight, empty where there is none

  // For the tensor of this name: 0 where its rows stay.
  std::int64_t interleaved_heads(std::string_view tensor_name) const;
};

Result<GgufConventions> follow_gguf_conventions(const Metadata& translated, const Weights& weights);

// Where row `row` of a tensor with interleaved heads comes from: row 2i + j of
// a head was row i of its half j.
constexpr std::int64_t row_before_interleaving(std::int64_t row, std::int64_t rows_per_head) {
  const std::int64_t within = row % rows_per_head;
  return row - within + within % 2 * (rows_per_head / 2) + within / 2;
}

}  // namespace ingot
