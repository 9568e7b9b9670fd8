// What a model reads, as requests give it: texts or tokens, one or a list.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "server/protocol/field_reader.h"

namespace ingot::protocol {

using TokenInput = std::variant<std::string, std::vector<std::int32_t>>;

constexpr std::size_t most_inputs = 2048;  // as OpenAI has it for embeddings

// Appends. An error names the one that is no token.
void read_tokens(FieldReader& reader, std::string_view name, std::span<const chat::Value> items,
                 std::int64_t vocabulary, std::vector<std::int32_t>& tokens);

// A text, a list of texts, a list of tokens, or a list of those. At least one, and no list of tokens is empty.
void read_inputs(FieldReader& reader, std::string_view name, std::int64_t vocabulary, std::vector<TokenInput>& inputs);

}  // namespace ingot::protocol
