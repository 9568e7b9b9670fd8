// What a text loses on its way to tokens, so that whoever gave it can be told.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

struct ReadableText {
  std::string text;
  std::size_t replaced = 0;  // bytes
};

// The text with U+FFFD for each byte that is no UTF-8.
ReadableText readable_text(std::string_view bytes);

// How many bytes of the text no token stands for. Only vocabularies of bytes leave out what they lack; others have a
// token for the unknown.
Result<std::size_t> count_left_out(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options);

}  // namespace ingot
