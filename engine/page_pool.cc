#include "engine/page_pool.h"

namespace ingot {

std::optional<std::int32_t> PagePool::take() {
  std::optional<std::int32_t> page;
  if (!released_.empty()) {
    page = released_.back();
    released_.pop_back();
  } else if (users_.size() < static_cast<std::size_t>(pages_)) {
    page = static_cast<std::int32_t>(users_.size());
    users_.push_back(0);
  } else {
    page = texts_.give_up();
  }
  if (page) users_[static_cast<std::size_t>(*page)] = 1;
  return page;
}

void PagePool::share(std::int32_t page) {
  if (users_[static_cast<std::size_t>(page)]++ == 0) texts_.take_up(page);
}

void PagePool::release(std::int32_t page) {
  if (--users_[static_cast<std::size_t>(page)] > 0) return;
  if (texts_.knows(page)) {
    texts_.let_go(page);
  } else {
    released_.push_back(page);
  }
}

}  // namespace ingot
