// Sleeps as calls do that may wait (os/syscall/file_wait.h), for scenarios in every order.
#pragma once

#include "os/file/socket/socket_file.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os::interleavings {

struct Sleep {
  WaitQueue queue;
  Atomic<bool> told;
};

class Place final : public PollWaiter {
 public:
  Place(PollSource* source, Sleep& sleep) : source_(source), sleep_(sleep) {
    if (source_ != nullptr) source_->join(*this);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (source_ != nullptr) source_->leave(*this);
  }

 private:
  void notified(std::uint32_t) override {
    sleep_.queue.wake_all_after([this] { sleep_.told.store(true, MemoryOrder::release); });
  }
  PollSource* source_;
  Sleep& sleep_;
};

// Attempts again whenever the file has told something, until the answer is not EAGAIN.
template <class Attempt>
auto insist(FileDescription& file, Attempt&& attempt) {
  auto answer = attempt();
  if (answer.ok() || answer.error() != Errno::eagain) return answer;
  Sleep sleep;
  SocketFile* const socket = file.as_socket();
  const Place own(file.poll_source(), sleep), room(socket != nullptr ? socket->room_source() : nullptr, sleep);
  while (true) {
    answer = attempt();
    if (answer.ok() || answer.error() != Errno::eagain) return answer;
    sleep.queue.wait_until([&] { return sleep.told.load(MemoryOrder::acquire); });
    sleep.told.store(false, MemoryOrder::release);
  }
}

}  // namespace ingot::os::interleavings
