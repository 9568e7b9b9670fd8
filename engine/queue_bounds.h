// QueueBounds: who may still wait. There are twice as many places as one asker may have, and each may have as many as
// are left then: alone, half of them; and however many somebody has taken, others find places, and he no more until he
// has fewer than they. Whoever has none may take the last one. What requests are made of (tokens of prompts, or texts
// that become vectors) is bounded in the same way, but for those who come when nobody waits.
#pragma once

#include <map>

#include "base/result.h"

namespace ingot {

struct WaitingLoad {
  std::int64_t requests = 0;
  std::int64_t parts = 0;  // of them: tokens or texts
};

class QueueBounds {
 public:
  // What one asker may have where nobody else waits.
  explicit QueueBounds(WaitingLoad of_one) : of_one_(of_one) {}

  WaitingLoad of_one() const { return of_one_; }
  // Fails (would_block) where the asker's share, or the queue, has no room for these, all of them.
  Result<void> check(std::int64_t asker, WaitingLoad added) const;
  void add(std::int64_t asker, WaitingLoad added);
  // Precondition: it was added. The last part of a request leaves with it, or before.
  void remove(std::int64_t asker, WaitingLoad removed);
  std::int64_t requests() const { return waiting_.requests; }

 private:
  WaitingLoad of_one_;
  WaitingLoad waiting_;                           // of all
  std::map<std::int64_t, WaitingLoad> by_asker_;  // those who have requests that wait
};

}  // namespace ingot
