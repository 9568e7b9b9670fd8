// The pattern GPT-2 began with, which byte-level vocabularies are split by unless they say otherwise.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace ingot
