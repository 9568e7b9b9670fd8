// TextBeginnings: a hash of a text up to the end of each of its full pages, so that what two texts begin with alike is
// found without looking at their tokens. It decides who waits for whom and nothing else. The secret keeps anybody from
// choosing a text that seems to begin as another's; those of different salts never do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

class TextBeginnings {
 public:
  TextBeginnings() = default;
  TextBeginnings(std::uint64_t secret, std::uint64_t salt, std::span<const std::int32_t> tokens,
                 std::int64_t page_length);

  std::int64_t pages() const { return std::ssize(hashes_); }
  // Names the text up to the end of a page, counted from 0; 0 behind the last.
  std::uint64_t name(std::int64_t page) const { return page < pages() ? hashes_[static_cast<std::size_t>(page)] : 0; }
  // Whether both are alike up to the end of that page.
  bool shares_page(const TextBeginnings& other, std::int64_t page) const {
    return salt_ == other.salt_ && page < pages() && page < other.pages() && name(page) == other.name(page);
  }
  // Pages that are alike, from the first on.
  std::int64_t shared_pages(const TextBeginnings& other) const;

 private:
  std::uint64_t salt_ = 0;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace ingot
