// PagePool: which pages of a KV cache are in use. Pages are counted, so that sequences which began alike share what
// they have in common; a page that is shared must be copied before it is written. Those that are known by their text
// stay when their last user lets go, until their memory is wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/prefix_index.h"

namespace ingot {

class PagePool {
 public:
  // Pages are numbered from 0; one that was never taken costs nothing.
  explicit PagePool(std::int32_t pages, std::int64_t page_length = 1, std::uint64_t secret = 0)
      : pages_(pages), texts_(page_length, secret) {}

  // Those included that only hold what might be asked for again.
  std::int64_t free_count() const {
    return pages_ - static_cast<std::int64_t>(users_.size()) + static_cast<std::int64_t>(released_.size()) +
           texts_.unused_count();
  }
  // Nothing where all are taken.
  std::optional<std::int32_t> take();
  // Precondition: the page is taken, or known by its text.
  void share(std::int32_t page);
  // Precondition of these: the page is taken.
  void release(std::int32_t page);
  bool is_in_use(std::int32_t page) const { return users_[static_cast<std::size_t>(page)] > 0; }
  bool has_one_user(std::int32_t page) const { return users_[static_cast<std::size_t>(page)] == 1; }
  // Whether others read it, or may come to: what is known by its text must go on holding it.
  bool is_shared(std::int32_t page) const { return users_[static_cast<std::size_t>(page)] > 1 || texts_.knows(page); }

  // Which pages are known by their text.
  PrefixIndex& texts() { return texts_; }
  const PrefixIndex& texts() const { return texts_; }

 private:
  std::int32_t pages_;
  std::vector<int> users_;  // of each page that was ever taken
  std::vector<std::int32_t> released_;
  PrefixIndex texts_;
};

}  // namespace ingot
