// Mailbox: where threads leave replies that have news for the loop. It wakes the loop once for all that came since it
// looked, and outlives it: whoever still answers then speaks to nobody.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "server/http/loop.h"

namespace ingot::http {

class Reply;

class Mailbox {
 public:
  // `look` is posted to the loop when something has come.
  Mailbox(Loop& loop, std::function<void()> look) : loop_(&loop), look_(std::move(look)) {}

  void put(std::shared_ptr<Reply> reply);
  std::vector<std::shared_ptr<Reply>> take();
  // Nothing is posted any more once this has returned.
  void close();

 private:
  std::mutex mutex_;
  Loop* loop_;
  std::function<void()> look_;
  std::vector<std::shared_ptr<Reply>> replies_;
};

}  // namespace ingot::http
