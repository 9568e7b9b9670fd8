// Splits a normalized text into the pieces that the model then segments one by one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/decoded_text.h"
#include "model/tokenizer/splitter.h"

namespace ingot {

struct PreTokenizedText {
  DecodedText text;
  std::vector<TextRange> pieces;  // in code points
};

class PreTokenizer {
 public:
  static Result<PreTokenizer> create(std::span<const PreTokenizerStep> steps);

  // is_first: nothing of the whole text comes before this part of it.
  PreTokenizedText run(std::string text, bool is_first) const;

 private:
  struct Stage {
    PreTokenizerStep step;
    std::vector<Splitter> splitter;  // none or one
  };

  std::vector<Stage> stages_;
};

}  // namespace ingot
