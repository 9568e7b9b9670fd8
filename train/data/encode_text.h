// A text as the tokens that a model is trained on: its documents one after the other, each followed by the token that
// ends it. Special tokens that the text spells are read as such.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

inline constexpr std::string_view usual_separator = "<|end|>";

// What ends a document: "<|end|>" where the tokenizer has this special token, else its end of text, else no_token.
TokenId document_separator(const Tokenizer& tokenizer);

using TokenSink = std::function<Result<void>(std::span<const TokenId>)>;
// How many bytes of the text are done.
using TextProgress = std::function<void(std::uint64_t)>;

// Hands the tokens over piece by piece. With no_token as the separator the text is one document without an end.
Result<void> encode_text(std::string_view text, const Tokenizer& tokenizer, TokenId separator, const TokenSink& sink,
                         const TextProgress& progress = {});

}  // namespace ingot
