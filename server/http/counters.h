// The server's counts while they are counted: by the loop, read by any thread.
#pragma once

#include <algorithm>
#include <atomic>

#include "server/http/server.h"

namespace ingot::http {

struct Counters {
  std::atomic<std::int64_t> connections = 0;
  std::atomic<std::int64_t> answering = 0;
  std::atomic<std::int64_t> accepted = 0;
  std::atomic<std::int64_t> dropped = 0;
  std::atomic<std::int64_t> turned_away = 0;
  std::atomic<std::int64_t> late = 0;
  std::atomic<std::int64_t> tls_failures = 0;
  std::array<std::atomic<std::int64_t>, refusal_statuses.size()> refused = {};
  std::atomic<std::int64_t> bytes_in = 0;
  std::atomic<std::int64_t> bytes_out = 0;

  // Only the loop counts, so that no count is lost between reading and writing it.
  static void add(std::atomic<std::int64_t>& count, std::int64_t amount) {
    count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  void add_refusal(int status) {
    const auto place = std::ranges::find(refusal_statuses, status);
    if (place != refusal_statuses.end()) add(refused[static_cast<std::size_t>(place - refusal_statuses.begin())], 1);
  }

  ServerCounts now() const {
    ServerCounts counts{.connections = connections.load(std::memory_order_relaxed),
                        .answering = answering.load(std::memory_order_relaxed),
                        .accepted = accepted.load(std::memory_order_relaxed),
                        .dropped = dropped.load(std::memory_order_relaxed),
                        .turned_away = turned_away.load(std::memory_order_relaxed),
                        .late = late.load(std::memory_order_relaxed),
                        .tls_failures = tls_failures.load(std::memory_order_relaxed),
                        .bytes_in = bytes_in.load(std::memory_order_relaxed),
                        .bytes_out = bytes_out.load(std::memory_order_relaxed)};
    for (std::size_t index = 0; index < refused.size(); ++index) {
      counts.refused[index] = refused[index].load(std::memory_order_relaxed);
    }
    return counts;
  }
};

}  // namespace ingot::http
