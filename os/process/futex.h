// FutexTable: sleeping for a word of the program's memory to change. The program tries by itself first, and calls only
// when it must wait, or wake somebody who does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/intrusive_list.h"
#include "base/units.h"
#include "os/schedule/locked.h"
#include "os/schedule/wait_queue.h"
#include "os/syscall/user_pointer.h"

namespace ingot::os {

class UserThread;

class FutexTable {
 public:
  static constexpr std::uint32_t any_bits = ~0u;

  // Sleeps while nobody wakes it, if the word still has the value. EAGAIN: it has another; ETIMEDOUT; Errno::restart: a
  // signal came. Waiters and wakers meet where they have a bit in common.
  Answer<void> wait(UserThread& thread, UserPointer<std::uint32_t> word, std::uint32_t value, std::uint32_t bits,
                    std::optional<Nanoseconds> deadline);
  // How many went on.
  std::uint64_t wake(UserPointer<std::uint32_t> word, std::uint64_t most, std::uint32_t bits = any_bits);

 private:
  struct Waiter : ListLink<struct FutexTag> {
    explicit Waiter(VirtualAddress address, std::uint32_t mask) : word(address), bits(mask) {}

    VirtualAddress word;
    std::uint32_t bits;
    Atomic<bool> woken;
    WaitQueue queue;
  };
  using List = IntrusiveList<Waiter, struct FutexTag>;
  struct Bucket {
    Locked<List> waiters{LockRank::futex};
  };

  Bucket& bucket_of(VirtualAddress word) {
    return buckets_[(word.value() >> 2) * 0x9e37'79b9'7f4a'7c15u >> (64 - bucket_bits)];
  }

  static constexpr unsigned bucket_bits = 6;
  std::array<Bucket, 1 << bucket_bits> buckets_;
};

}  // namespace ingot::os
