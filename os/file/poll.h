// Waiting for files. No file ever sleeps: what cannot be done now answers EAGAIN. Who wants to wait joins the file's
// PollSource, looks again, and sleeps until it is told; read, poll, select and epoll all wait this way.
//
//   file: state changes --> source.notify(readable) --> every PollWaiter::notified --> a thread wakes, or an epoll
//                                                                                      remembers the file
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "os/schedule/locked.h"

namespace ingot::os {

// The bits of poll and epoll, which are the same.
namespace poll_event {
inline constexpr std::uint32_t readable = 0x1, urgent = 0x2, writable = 0x4;  // POLLIN, POLLPRI, POLLOUT
inline constexpr std::uint32_t error = 0x8, hang_up = 0x10, invalid = 0x20;   // POLLERR, POLLHUP, POLLNVAL
inline constexpr std::uint32_t read_normal = 0x40, write_normal = 0x100;      // POLLRDNORM, POLLWRNORM
inline constexpr std::uint32_t peer_closed = 0x2000;                          // POLLRDHUP
// These are told even to those who did not ask.
inline constexpr std::uint32_t always = error | hang_up;
}  // namespace poll_event

class PollSource;

class PollWaiter : public ListLink<struct PollSourceTag> {
 public:
  PollWaiter() = default;

 protected:
  ~PollWaiter() = default;

 private:
  friend class PollSource;

  // Under the source's lock, perhaps in an interrupt handler: it wakes somebody and does no more. The events are those
  // that may hold now and did not before; none is left out.
  virtual void notified(std::uint32_t events) = 0;
};

class PollSource {
 public:
  explicit PollSource(LockRank rank = LockRank::poll) : waiters_(rank) {}

  // Joining comes before looking at the state: a change in between is not lost.
  void join(PollWaiter& waiter) {
    waiters_.with([&](List& list) { list.push_back(waiter); });
  }
  // After it the waiter is not told any more.
  void leave(PollWaiter& waiter) {
    waiters_.with([&](List& list) {
      if (waiter.is_linked()) list.remove(waiter);
    });
  }
  // After the state has changed.
  void notify(std::uint32_t events) {
    waiters_.with([&](List& list) {
      for (PollWaiter& waiter : list) waiter.notified(events);
    });
  }

 private:
  using List = IntrusiveList<PollWaiter, PollSourceTag>;
  Locked<List, SharedWith::interrupts> waiters_;
};

}  // namespace ingot::os
