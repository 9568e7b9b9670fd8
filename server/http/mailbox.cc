#include "server/http/mailbox.h"

#include <utility>

#include "server/http/reply.h"

namespace ingot::http {

void Mailbox::put(std::shared_ptr<Reply> reply) {
  const std::scoped_lock lock(mutex_);
  if (loop_ == nullptr) return;
  replies_.push_back(std::move(reply));
  if (replies_.size() == 1) loop_->post(look_);
}

std::vector<std::shared_ptr<Reply>> Mailbox::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(replies_, {});
}

void Mailbox::close() {
  std::vector<std::shared_ptr<Reply>> unread;  // let go of without the lock
  const std::scoped_lock lock(mutex_);
  loop_ = nullptr;
  unread.swap(replies_);
}

}  // namespace ingot::http
