#include "engine/page_pool.h"

namespace ingot {

PagePool::PagePool(std::int32_t pages) : users_(static_cast<std::size_t>(pages), 0) {
  for (std::int32_t page = pages - 1; page >= 0; --page) free_.push_back(page);  // the lowest is taken first
}

std::optional<std::int32_t> PagePool::take() {
  if (free_.empty()) return std::nullopt;
  const std::int32_t page = free_.back();
  free_.pop_back();
  users_[static_cast<std::size_t>(page)] = 1;
  return page;
}

void PagePool::release(std::int32_t page) {
  if (--users_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

}  // namespace ingot
