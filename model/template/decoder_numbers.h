// The hyper-parameters that decoder-only transformers share, read from GGUF's keys.
#pragma once

#include "model/template/keys.h"
#include "model/template/layers.h"
#include "model/template/template.h"

namespace ingot {

struct DecoderNumbers {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t hidden = 0;  // of the feed-forward network
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t key_dimensions = 0;  // of a head
  std::int64_t value_dimensions = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t scaled_context = 0;  // that the rotation's scaling reaches; 0: it says nothing of that
  std::int64_t window = 0;          // of sliding-window attention; 0: none
  double epsilon = 1e-5;            // of the norms
  double attention_softcap = 0;
  double final_softcap = 0;
  Rotation rotation;

  double attention_scale() const;  // 1 / sqrt(key dimensions)
};

// Keys are "<prefix>.<suffix>", as in "llama.block_count". Everything is checked to be usable: positive, in proportion,
// not absurdly large.
Result<DecoderNumbers> read_decoder_numbers(const ModelSource& source, std::string_view prefix, PairStyle usual_style);

// The part of them that has nothing to do with attention: layers, width, context, vocabulary, epsilon.
Result<DecoderNumbers> read_trunk_numbers(const ModelSource& source, std::string_view prefix);

// Which layers see no further than the window: "<prefix>.attention.sliding_window_pattern" is a list with an entry for
// each layer, or a period of layers whose last sees everything (0: none does).
Result<std::vector<bool>> read_sliding_layers(const ModelSource& source, std::string_view prefix, std::int64_t layers,
                                              std::int64_t usual_period);

// How many positions a model with a table of them has.
Result<std::int64_t> read_position_rows(const ModelSource& source);

// A translated checkpoint says here how its heads' pairs lie, where that differs from GGUF's convention.
inline constexpr std::string_view rope_style_key = "ingot.rope.style";  // "half_split" or "interleaved"

Result<PairStyle> read_pair_style(const Metadata& metadata, PairStyle usual);

// rope.scaling.attn_factor is what cos and sin are multiplied by, as config.json's attention_factor is. In GGUF files
// it counts from YaRN's own 1 + 0.1 ln(factor), which their readers multiply it with: here is that unit, 1 of other
// kinds.
Result<double> gguf_magnitude_unit(const Keys& keys);

ModelFacts facts_of(const DecoderNumbers& numbers, std::string_view architecture);

}  // namespace ingot
