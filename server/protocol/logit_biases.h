// What a request adds to the logits of single tokens.
#pragma once

#include <string>
#include <vector>

#include "engine/sampler.h"
#include "server/protocol/field_reader.h"

namespace ingot::protocol {

enum class BiasForm : std::uint8_t {
  openai,  // an object by tokens: {"5": -100}
  llama,   // that, with texts for tokens too, or a list of pairs: [[5, -100], [" a", false]]; false: it never comes
};

// Of every token that the text has.
struct TextBias {
  std::string text;
  float added = 0;
};

struct LogitBiases {
  std::vector<TokenBias> tokens = {};
  std::vector<TextBias> texts = {};
};

// Of tokens, those of the texts included: each is looked up at every token.
constexpr std::size_t most_biases = 1024;

// Keys of an object that are numbers are spelled as tokens are (7, not 07): two keys must not name one token.
LogitBiases read_biases(FieldReader& reader, BiasForm form, std::int64_t vocabulary);

}  // namespace ingot::protocol
