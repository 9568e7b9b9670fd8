#include "model/tokenizer/character_map.h"

#include "base/utf8.h"

namespace ingot {

namespace {

// Real maps have keys of at most 18 bytes and replacements of at most 54; the bounds keep a false one from costing more
// than a fixed amount at each place.
constexpr std::size_t longest_key = 64;
constexpr std::size_t longest_replacement = 1024;

}  // namespace

Result<CharacterMap> CharacterMap::create(std::string_view blob) {
  const auto word_at = [&](std::size_t offset) {
    std::uint32_t word = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      word |= std::uint32_t{static_cast<std::uint8_t>(blob[offset + byte])} << (8 * byte);
    }
    return word;
  };
  if (blob.size() < 8) {
    return Error::of(ErrorCode::corrupt, "precompiled character map: expected at least 8 bytes, found ", blob.size());
  }
  const std::size_t array_bytes = word_at(0);
  if (array_bytes % 4 != 0 || array_bytes > blob.size() - 4) {
    return Error::of(ErrorCode::corrupt, "precompiled character map: expected an array of 4-byte entries within ",
                     blob.size() - 4, " bytes, found ", array_bytes, " bytes");
  }
  CharacterMap map;
  map.entries_.reserve(array_bytes / 4);
  for (std::size_t offset = 4; offset < 4 + array_bytes; offset += 4) map.entries_.push_back(word_at(offset));
  map.replacements_ = blob.substr(4 + array_bytes);
  // Then every replacement ends inside.
  if (map.replacements_.empty() || map.replacements_.back() != '\0') {
    return Error::of(ErrorCode::corrupt, "precompiled character map: expected replacements that end with a zero byte");
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; end < map.replacements_.size(); ++end) {
    if (map.replacements_[end] != '\0') continue;
    if (end - begin > longest_replacement) {
      return Error::of(ErrorCode::corrupt, "precompiled character map: expected replacements of at most ",
                       longest_replacement, " bytes, found one of ", end - begin);
    }
    begin = end + 1;
  }
  return map;
}

CharacterMap::Found CharacterMap::longest_at(std::string_view text) const {
  const auto distance = [](std::uint32_t entry) { return (entry >> 10) << ((entry & (1u << 9)) >> 6); };
  Found found;
  if (entries_.empty()) return found;
  std::size_t node = distance(entries_[0]);
  for (std::size_t position = 0; position < text.size() && position < longest_key; ++position) {
    const auto label = static_cast<std::uint8_t>(text[position]);
    node ^= label;
    if (label == 0 || node >= entries_.size() || (entries_[node] & 0x800000ffu) != label) break;
    const std::uint32_t entry = entries_[node];
    node ^= distance(entry);
    if ((entry >> 8 & 1) == 0) continue;
    if (node >= entries_.size()) break;
    const std::size_t offset = entries_[node] & 0x7fffffffu;
    if (offset >= replacements_.size()) break;
    found = {position + 1, replacements_.c_str() + offset};
  }
  return found;
}

std::string CharacterMap::apply(std::string_view text) const {
  std::string result;
  result.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    if (const Found found = longest_at(text.substr(position)); found.size > 0) {
      result += found.replacement;
      position += found.size;
      continue;
    }
    const DecodedCharacter character = decode_utf8(text, position);
    append_utf8(result, character.code);
    position += character.size;
  }
  return result;
}

}  // namespace ingot
