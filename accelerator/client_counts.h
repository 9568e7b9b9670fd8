// ClientCounts: what a worker says of its work. It stands in memory that the client may write, too: these counts are
// for people, not for decisions.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/accelerator/layout.h"

namespace ingot {

struct ClientCounts {
  std::uint64_t packets = 0;
  std::uint64_t dispatches = 0;
  std::uint64_t lists = 0;
  std::uint64_t refusals = 0;
  std::uint64_t faults = 0;
  std::uint64_t heartbeats = 0;
  std::uint64_t busy_nanoseconds = 0;
  std::uint64_t mapped_bytes = 0;       // at present
  std::uint64_t most_mapped_bytes = 0;  // at a time, since it came

  double busy_seconds() const { return static_cast<double>(busy_nanoseconds) * 1e-9; }
};

// All but the bytes, which come and go.
inline constexpr std::array counts_that_grow = {
    &ClientCounts::packets, &ClientCounts::dispatches, &ClientCounts::lists,           &ClientCounts::refusals,
    &ClientCounts::faults,  &ClientCounts::heartbeats, &ClientCounts::busy_nanoseconds};

// Together they may be more than there are numbers, where clients lie.
inline void add(ClientCounts& sum, const ClientCounts& more) {
  const auto add_one = [&](std::uint64_t ClientCounts::* count) {
    if (__builtin_add_overflow(sum.*count, more.*count, &(sum.*count))) {
      sum.*count = std::numeric_limits<std::uint64_t>::max();
    }
  };
  for (const auto count : counts_that_grow) add_one(count);
  add_one(&ClientCounts::mapped_bytes);
}

// What is believed of one client. Its counts never fall, and grow by one a nanosecond at most: nothing is done in less,
// and none is busy for longer than it is there. So a client that writes them spoils what is told of itself, and of all
// together no more than that.
class BelievedCounts {
 public:
  const ClientCounts& look(const accelerator::WorkerWords& words, std::chrono::nanoseconds since_it_came) {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(since_it_came.count(), 0));
    const auto grow = [&](std::uint64_t ClientCounts::* count, const Atomic<std::uint64_t>& word) {
      kept_.*count = std::max(kept_.*count, std::min(word.load(MemoryOrder::relaxed), most));
    };
    grow(&ClientCounts::packets, words.packets);
    grow(&ClientCounts::dispatches, words.dispatches);
    grow(&ClientCounts::lists, words.lists);
    grow(&ClientCounts::refusals, words.refusals);
    grow(&ClientCounts::faults, words.fault_write);
    grow(&ClientCounts::heartbeats, words.heartbeat);
    grow(&ClientCounts::busy_nanoseconds, words.busy_nanoseconds);
    kept_.mapped_bytes = words.mapped_bytes.load(MemoryOrder::relaxed);
    kept_.most_mapped_bytes = std::max(kept_.most_mapped_bytes, words.most_mapped_bytes.load(MemoryOrder::relaxed));
    return kept_;
  }

 private:
  ClientCounts kept_;
};

}  // namespace ingot
