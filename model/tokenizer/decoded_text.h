// Text as code points that remember where their bytes lie: patterns see characters, vocabularies see bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace ingot {

struct DecodedText {
  std::string bytes;
  std::vector<CodePoint> code_points;  // U+FFFD for each byte that is no UTF-8
  std::vector<std::uint32_t> offsets;  // of each code point's bytes; one more for the end

  explicit DecodedText(std::string text) : bytes(std::move(text)) {
    code_points.reserve(bytes.size());
    offsets.reserve(bytes.size() + 1);
    for (std::size_t position = 0; position < bytes.size();) {
      const DecodedCharacter character = decode_utf8(bytes, position);
      code_points.push_back(character.code);
      offsets.push_back(static_cast<std::uint32_t>(position));
      position += character.size;
    }
    offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
  }

  std::string_view slice(std::size_t begin, std::size_t end) const {
    return std::string_view(bytes).substr(offsets[begin], offsets[end] - offsets[begin]);
  }
};

}  // namespace ingot
