// SideWork: what else the broker's loop waits for. It has the broker's only thread, so its turns must never wait.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace ingot {

class SideWork {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~SideWork() = default;
  // Puts what it waits for behind what others wait for.
  virtual void add_waits(std::vector<pollfd>& waits) = 0;
  // When its turn is though nothing came; nothing: then it has none.
  virtual std::optional<Clock::time_point> next_turn() const = 0;
  // With what it put there, and in that order.
  virtual void turn(std::span<const pollfd> waits) = 0;
};

}  // namespace ingot
