// LineWriter: lines on their way to a descriptor that takes them slowly or not at all, such as a pipe that nobody
// reads. A thread of its own waits for it, and nobody else.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace ingot {

class LineWriter {
 public:
  // The descriptor stays the caller's. Whoever uses this ignores SIGPIPE. What waits at the end has `time_to_end` to be
  // written.
  explicit LineWriter(int descriptor, std::chrono::milliseconds time_to_end = std::chrono::seconds(1));
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // --- from any thread ---
  // A line, with its end, is one write. Where too many wait already it is dropped.
  void add(std::string line);
  // Lines that were dropped, or could not be written.
  std::int64_t lost() const;

 private:
  struct State;
  static void work(State& state);

  std::shared_ptr<State> state_;  // the thread's too: it may wait for its descriptor longer than this lives
  std::chrono::milliseconds time_to_end_;
  std::thread thread_;
};

}  // namespace ingot
