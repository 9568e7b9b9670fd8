// Reading tokenizer.json: access that names the field in its errors, and the parts that are lists of steps. Private to
// hugging_face_*.cc.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/tokenizer/description.h"

namespace ingot::hugging_face {

using Json = nlohmann::json;

// A member that is there and not null, or nothing.
const Json* member(const Json& object, std::string_view key);
Result<std::string> text(const Json& object, std::string_view key);
Result<std::string> text_or(const Json& object, std::string_view key, std::string_view absent);
Result<bool> boolean_or(const Json& object, std::string_view key, bool absent);
Result<std::int64_t> integer(const Json& object, std::string_view key);
Error wrong_kind(std::string_view where, std::string_view expected, const Json& found);

// Each adds what the section of tokenizer.json says; a null section says nothing.
Result<void> read_normalizer(const Json& section, TokenizerDescription& description);
Result<void> read_pre_tokenizer(const Json& section, TokenizerDescription& description);
Result<void> read_post_processor(const Json& section, TokenizerDescription& description);
Result<void> read_decoder(const Json& section, TokenizerDescription& description);

}  // namespace ingot::hugging_face
