// Tokens beside their probabilities: as text, and as bytes. A token need not be whole characters.
#pragma once

#include <string>
#include <string_view>

#include "model/tokenizer/tokenizer.h"
#include "server/protocol/json_text.h"

namespace ingot::protocol {

bool is_utf8(std::string_view text);

// The piece, where that is UTF-8. Otherwise as OpenAI does: `\xe2\x80` in chats, `bytes:\xe2\x80` in completions, so
// that different tokens have different names.
std::string spelling(std::string_view piece, std::string_view prefix_of_bytes);

void add_bytes(JsonWriter& writer, std::string_view piece);

// The fields of one token: `token`, `logprob`, `bytes`.
void add_token(JsonWriter& writer, const Tokenizer& tokenizer, std::int32_t token, float log_probability);

// A logarithm that JSON can hold: OpenAI's -9999 for what cannot come.
float told_probability(float log_probability);

}  // namespace ingot::protocol
