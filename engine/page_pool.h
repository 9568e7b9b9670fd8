// PagePool: which pages of a KV cache belong to which sequence. Pages are counted, so that sequences which began alike
// share what they have in common; a page that is shared must be copied before it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ingot {

class PagePool {
 public:
  // Pages are numbered from 0; one that was never taken costs nothing.
  explicit PagePool(std::int32_t pages) : pages_(pages) {}

  std::int64_t free_count() const {
    return pages_ - static_cast<std::int64_t>(users_.size()) + static_cast<std::int64_t>(released_.size());
  }
  // Nothing where all are taken.
  std::optional<std::int32_t> take();
  // Precondition of these: the page is taken.
  void share(std::int32_t page) { ++users_[static_cast<std::size_t>(page)]; }
  void release(std::int32_t page);
  bool is_shared(std::int32_t page) const { return users_[static_cast<std::size_t>(page)] > 1; }

 private:
  std::int32_t pages_;
  std::vector<int> users_;  // of each page that was ever taken
  std::vector<std::int32_t> released_;
};

}  // namespace ingot
