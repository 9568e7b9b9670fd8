#include "engine/page_pool.h"

namespace ingot {

std::optional<std::int32_t> PagePool::take() {
  if (free_count() == 0) return std::nullopt;
  if (released_.empty()) {
    users_.push_back(1);
    return static_cast<std::int32_t>(users_.size() - 1);
  }
  const std::int32_t page = released_.back();
  released_.pop_back();
  users_[static_cast<std::size_t>(page)] = 1;
  return page;
}

void PagePool::release(std::int32_t page) {
  if (--users_[static_cast<std::size_t>(page)] == 0) released_.push_back(page);
}

}  // namespace ingot
