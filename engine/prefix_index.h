// PrefixIndex: which pages of a cache hold which beginnings of texts, so that a request finds what others computed.
//
// A page that is full is known by the page before it, its own tokens and, where it is the first, a salt: texts of
// different salts never share. A hash only finds candidates; the tokens themselves are compared, and the page before is
// the same page, so that no collision makes one text into another. The hash has a secret: nobody can choose tokens that
// collide.
//
// Pages that nobody uses any more stay known until their memory is wanted: the one that was let go longest ago is given
// up first. Whoever lets go of a text does so from its end, so that a page is never given up before those behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace ingot {

class PrefixIndex {
 public:
  PrefixIndex(std::int64_t page_length, std::uint64_t secret) : page_length_(page_length), secret_(secret) {}

  // The pages that hold the beginning of `tokens`, as far as it is known, in order.
  std::vector<std::int32_t> find(std::uint64_t salt, std::span<const std::int32_t> tokens) const;

  // Makes `page` known, which holds `tokens`, a whole page of them, behind the page `before`; none: the text begins
  // with it. Returns the page that is known by these tokens: where there was one, it is that one, and `page` stays
  // unknown. Precondition: the caller uses both pages, and `before` is known.
  std::int32_t add(std::uint64_t salt, std::optional<std::int32_t> before, std::span<const std::int32_t> tokens,
                   std::int32_t page);

  bool knows(std::int32_t page) const;
  // Of the text that ends with the page: no other text ever has the same. Precondition: it is known.
  std::uint64_t number(std::int32_t page) const { return known(page).number; }
  // Its last user has let go of the page, or it has a user again. Precondition: it is known.
  void let_go(std::int32_t page);
  void take_up(std::int32_t page);

  // Counts what changes the answer of find(), and which pages of it are used.
  std::uint64_t changes() const { return changes_; }
  // How many pages are known that nobody uses.
  std::int64_t unused_count() const { return unused_; }
  // Forgets such a page. Nothing where there is none.
  std::optional<std::int32_t> give_up();

 private:
  static constexpr std::int32_t none = -1;
  struct Known {
    bool is_known = false;
    std::uint64_t hash = 0;
    std::uint64_t number = 0;
    std::uint64_t salt = 0;
    std::int32_t before = none;
    std::vector<std::int32_t> tokens;
    std::int32_t earlier = none, later = none;  // of the unused ones, in the order in which they were let go
  };

  std::uint64_t hash_of(std::uint64_t salt, std::int32_t before, std::span<const std::int32_t> tokens) const;
  std::int32_t find_page(std::uint64_t salt, std::int32_t before, std::span<const std::int32_t> tokens) const;
  Known& known(std::int32_t page) { return pages_[static_cast<std::size_t>(page)]; }
  const Known& known(std::int32_t page) const { return pages_[static_cast<std::size_t>(page)]; }

  std::int64_t page_length_;
  std::uint64_t secret_;
  std::vector<Known> pages_;  // by number
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
  std::int32_t earliest_ = none, latest_ = none;
  std::int64_t unused_ = 0;
  std::uint64_t next_number_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace ingot
