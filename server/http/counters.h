// The server's counts while they are counted: by the loop, read by any thread.
#pragma once

#include <atomic>

#include "server/http/server.h"

namespace ingot::http {

struct Counters {
  std::atomic<std::int64_t> connections = 0;
  std::atomic<std::int64_t> accepted = 0;
  std::atomic<std::int64_t> dropped = 0;
  std::atomic<std::int64_t> late = 0;
  std::atomic<std::int64_t> malformed = 0;
  std::atomic<std::int64_t> bytes_in = 0;
  std::atomic<std::int64_t> bytes_out = 0;

  // Only the loop counts, so that no count is lost between reading and writing it.
  static void add(std::atomic<std::int64_t>& count, std::int64_t amount) {
    count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  ServerCounts now() const {
    return {connections.load(std::memory_order_relaxed), accepted.load(std::memory_order_relaxed),
            dropped.load(std::memory_order_relaxed),     late.load(std::memory_order_relaxed),
            malformed.load(std::memory_order_relaxed),   bytes_in.load(std::memory_order_relaxed),
            bytes_out.load(std::memory_order_relaxed)};
  }
};

}  // namespace ingot::http
