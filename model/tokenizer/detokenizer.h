// Decodes tokens as they come. What it gives out is always whole, valid UTF-8: bytes of a character that is not
// complete wait for the next token, and bytes that cannot become one are given out as U+FFFD.
//
//   Detokenizer detokenizer(tokenizer);
//   while (...) print(detokenizer.push(id));
//   print(detokenizer.finish());
#pragma once

#include <string>
#include <string_view>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

class Detokenizer {
 public:
  // The tokenizer must outlive this.
  explicit Detokenizer(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(&tokenizer),
        options_(options),
        strips_space_(options.is_text_begin && tokenizer.description().strips_space_when_decoding) {}

  // `is_shown`: it is spelled even where it is special.
  std::string push(TokenId id, bool is_shown = false);
  // What is left at the end: U+FFFD for each byte of a character that was never completed.
  std::string finish();

 private:
  std::string take_complete(bool is_end);

  const Tokenizer* tokenizer_;
  DecodeOptions options_;
  bool strips_space_;
  std::string pending_;
};

}  // namespace ingot
