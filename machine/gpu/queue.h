// Queue: work for a device, done in the order in which it was given, while the host goes on.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "base/result.h"
#include "machine/gpu/device_function.h"

namespace ingot {

// A point between the works of a queue.
class Mark {
 public:
  virtual ~Mark() = default;

  // Behind what the queue was given so far; it may be placed again.
  virtual Result<void> place() = 0;
  // Until all is done that was given before it. Precondition of these: it was placed.
  virtual Result<void> wait() = 0;
  // From an earlier mark of the same device to this one, as the device measured it.
  virtual Result<double> seconds_since(const Mark& earlier) = 0;
};

// Work that was written down once, to be done again as a whole. It reads memory when it is done; addresses, shapes and
// parameters are those that it was written down with.
class Recording {
 public:
  virtual ~Recording() = default;
};

class Queue {
 public:
  virtual ~Queue() = default;

  // Nothing here tells a failure at once: the first one is kept, what follows it is left out, and wait() tells it.
  // Parameters are copied before the call returns.
  virtual void launch(const DeviceFunction& function, const LaunchShape& shape,
                      std::span<const std::byte> parameters) = 0;
  virtual void copy_in(std::byte* device, const std::byte* host, std::size_t bytes) = 0;
  virtual void copy_out(std::byte* host, const std::byte* device, std::size_t bytes) = 0;
  virtual void copy_within(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void fill(std::byte* device, std::uint8_t value, std::size_t bytes) = 0;

  // What the work that follows belongs to, for the text of a failure. Must outlive that work.
  virtual void name_step(std::string_view step) = 0;

  virtual Result<std::unique_ptr<Mark>> make_mark() = 0;

  // From the first to the second what is given is written down and not done. The second ends it whatever comes of it,
  // and fails with the queue's failure where it has one.
  virtual Result<void> begin_recording() = 0;
  virtual Result<std::unique_ptr<Recording>> end_recording() = 0;
  // Precondition: it is of this queue.
  virtual void replay(const Recording& recording) = 0;

  // Until all that was given is done. A device that failed once fails for ever: its queues are of no more use.
  virtual Result<void> wait() = 0;

  // The typed way: the parameters are what the function of the device's source takes.
  template <class Parameters>
  void launch(const DeviceFunction& function, const LaunchShape& shape, const Parameters& parameters) {
    static_assert(std::is_trivially_copyable_v<Parameters>, "the device gets a copy of the bytes");
    static_assert(sizeof(Parameters) <= 4096, "a launch carries 4 KiB of parameters at most");
    launch(function, shape, std::as_bytes(std::span(&parameters, 1)));
  }
};

}  // namespace ingot
