#include "engine/text_beginnings.h"

#include <algorithm>

#include "base/random.h"

namespace ingot {

TextBeginnings::TextBeginnings(std::uint64_t secret, std::uint64_t salt, std::span<const std::int32_t> tokens,
                               std::int64_t page_length)
    : salt_(salt) {
  // A round for the salt alone: otherwise it could be made up for by the first token.
  std::uint64_t hash = RandomNumbers(secret ^ salt).next();
  std::int64_t in_page = 0;
  for (const std::int32_t token : tokens) {
    hash = RandomNumbers(hash ^ static_cast<std::uint32_t>(token)).next();
    if (++in_page < page_length) continue;
    hashes_.push_back(hash);
    in_page = 0;
  }
}

std::int64_t TextBeginnings::shared_pages(const TextBeginnings& other) const {
  if (salt_ != other.salt_) return 0;
  return std::ranges::mismatch(hashes_, other.hashes_).in1 - hashes_.begin();
}

}  // namespace ingot
