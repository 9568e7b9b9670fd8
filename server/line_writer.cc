#include "server/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>

namespace ingot {
namespace {

constexpr std::size_t most_waiting_bytes = 1 << 20;

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct LineWriter::State {
  explicit State(int written_to) : descriptor(written_to) {}

  const int descriptor;
  std::atomic<std::int64_t> lost = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  std::size_t bytes = 0;  // of those, and of the one that is being written
  bool is_ending = false;
  bool has_ended = false;
};

LineWriter::LineWriter(int descriptor, std::chrono::milliseconds time_to_end)
    : state_(std::make_shared<State>(descriptor)), time_to_end_(time_to_end) {
  thread_ = std::thread([state = state_] { work(*state); });
}

LineWriter::~LineWriter() {
  bool has_ended = false;
  {
    std::unique_lock lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
    has_ended = state_->changed.wait_for(lock, time_to_end_, [this] { return state_->has_ended; });
  }
  if (has_ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

std::int64_t LineWriter::lost() const { return state_->lost; }

void LineWriter::add(std::string line) {
  const std::lock_guard lock(state_->mutex);
  if (state_->bytes + line.size() > most_waiting_bytes) {
    ++state_->lost;
    return;
  }
  state_->bytes += line.size();
  state_->lines.push_back(std::move(line));
  state_->changed.notify_all();
}

void LineWriter::work(State& state) {
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&] { return state.is_ending || !state.lines.empty(); });
    if (state.lines.empty()) break;
    const std::string line = std::move(state.lines.front());
    state.lines.pop_front();
    lock.unlock();
    if (!write_all(state.descriptor, line)) ++state.lost;
    lock.lock();
    state.bytes -= line.size();
  }
  state.has_ended = true;
  state.changed.notify_all();
}

}  // namespace ingot
