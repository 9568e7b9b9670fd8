// Timers of the network: the earliest is found at once, and a timer that is put off costs nothing until its old time
// comes. They run under the network's lock, on whatever thread runs Stack::run_timers.
#pragma once

#include <cstdint>

#include "base/pairing_heap.h"
#include "base/units.h"
#include "os/network/machine.h"

namespace ingot::os::network {

class NetworkTimer : public HeapNode {
 public:
  NetworkTimer() = default;
  NetworkTimer(const NetworkTimer&) = delete;
  NetworkTimer& operator=(const NetworkTimer&) = delete;

  static constexpr Nanoseconds never{INT64_MAX};

  bool is_set() const { return wanted_ != never; }
  Nanoseconds time() const { return wanted_; }  // never: it is not set

 protected:
  // Precondition: not set; whoever owns it clears it first.
  ~NetworkTimer() = default;

 private:
  friend class NetworkTimers;
  // Its time has come; it is not set any more, and may be set again.
  virtual void expired(Nanoseconds now) = 0;

  Nanoseconds wanted_ = never;
  Nanoseconds queued_;  // where it stands in the heap: at its time, or before it
};

class NetworkTimers {
 public:
  explicit NetworkTimers(Machine& machine) : machine_(machine) {}

  // Instead of any time before.
  void set(NetworkTimer& timer, Nanoseconds time);
  void clear(NetworkTimer& timer);
  // All that are due. The machine is told when to call again.
  void run(Nanoseconds now);

 private:
  struct Earlier {
    bool operator()(const NetworkTimer& left, const NetworkTimer& right) const { return left.queued_ < right.queued_; }
  };
  PairingHeap<NetworkTimer, Earlier> heap_;
  Machine& machine_;
};

}  // namespace ingot::os::network
