// VirtioQueue: the driver's side of a split virtqueue (virtio 1.2, 2.7). Chains of memory go to the device, and come
// back used. It works on memory that it is given, so a test can play the device.
//
//   driver:  add, add, publish -> ring the doorbell     take, take, ... nothing: await -> sleep
//
// A device that is wrong about its ring is not followed: what it says is compared with what only the driver knows, the
// first contradiction is kept (fault), and the queue gives out nothing more. It is no lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/atomic.h"
#include "os/memory/address.h"

namespace ingot::os {

// Memory of one chain, as the device addresses it.
struct VirtioPiece {
  PhysicalAddress begin;
  std::uint32_t bytes = 0;
};

// What the driver remembers of a descriptor, where the device cannot change it.
struct VirtioChain {
  std::uint16_t next = 0;    // free: the next free one; else the next of its chain
  std::uint16_t pieces = 0;  // of the chain that begins here; 0: none does
  std::uint32_t room = 0;    // bytes that the device may write into the chain
  std::uint64_t token = 0;   // whose it is, for the driver
};

enum class VirtioFault : std::uint8_t { none, used_ahead, unknown_chain, too_long };
constexpr std::string_view name_of(VirtioFault fault) {
  constexpr std::string_view names[] = {"nothing", "more chains than it was given", "a chain that it does not have",
                                        "more bytes than the chain has room for"};
  return names[static_cast<std::size_t>(fault)];
}

class VirtioQueue {
 public:
  static constexpr std::uint16_t most_entries = 256;
  // Where the parts lie: descriptors fill a page of their own, the rings share the next.
  static constexpr std::uint64_t available_at = 4096, used_at = available_at + 1024, memory_bytes = 8192;

  VirtioQueue() = default;
  VirtioQueue(const VirtioQueue&) = delete;
  VirtioQueue& operator=(const VirtioQueue&) = delete;

  // `memory`: memory_bytes that begin with a page. As many entries as chains, a power of two up to most_entries. Both
  // stay with the queue. `event_index`: VIRTIO_F_EVENT_IDX was agreed on.
  void begin(std::byte* memory, std::span<VirtioChain> chains, bool event_index);

  // One chain: what the device reads, then what it writes. False when the descriptors are used up, or after a fault.
  // The device sees it when it is published. Precondition: at least one piece; less than 4 GiB to write.
  [[nodiscard]] bool add(std::span<const VirtioPiece> readable, std::span<const VirtioPiece> writable,
                         std::uint64_t token);
  std::uint16_t free_pieces() const { return free_; }

  // Shows the device what was added. Whether to ring its doorbell: where it asked for that, and where less than `few`
  // chains were left to it. Then it may be waiting, and one that is not told for a mistake would wait for ever:
  // emulators do not all keep the order in which we show a chain and look for the wish to be told of it.
  [[nodiscard]] bool publish(std::uint16_t few = 1);

  // A chain that the device is done with, in its order. Nothing: none so far, or a fault.
  struct Used {
    std::uint64_t token = 0;
    std::uint32_t bytes = 0;  // that it wrote, from the chain's first writable one on
    bool operator==(const Used&) const = default;
  };
  std::optional<Used> take();

  // Asks for an interrupt once `chains` more were used. False: so many are already, and no interrupt will tell of
  // those; look again. This second look is what keeps a chain from being missed that came before the device was asked.
  [[nodiscard]] bool await(std::uint16_t chains = 1);
  // No interrupts wanted for now: a hint, some may come.
  void do_not_interrupt();

  // At the end, when the device is stopped: use(token) of every chain that did not come back.
  template <class Use>
  void abandon(Use&& use) {
    for (std::uint16_t entry = 0; entry < entries_; ++entry) {
      if (chains_[entry].pieces == 0) continue;
      chains_[entry].pieces = 0;
      use(chains_[entry].token);
    }
  }

  // Published and not taken back.
  std::uint16_t in_flight() const { return static_cast<std::uint16_t>(published_ - taken_); }
  VirtioFault fault() const { return fault_; }

 private:
  struct Descriptor {
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint16_t flags, next;
  };
  struct UsedEntry {
    Atomic<std::uint32_t> chain, bytes;
  };
  // One index more than entries: the other side's wish for its next notification.
  struct Available {
    Atomic<std::uint16_t> flags, index;
    std::array<Atomic<std::uint16_t>, most_entries + 1> ring;
  };
  struct UsedRing {
    Atomic<std::uint16_t> flags, index;
    std::array<UsedEntry, most_entries> ring;
  };
  Atomic<std::uint16_t>& used_event() { return available_->ring[entries_]; }
  // Behind the last entry, wherever that is.
  Atomic<std::uint16_t>& available_event() {
    return *reinterpret_cast<Atomic<std::uint16_t>*>(reinterpret_cast<std::byte*>(used_) + 4 +
                                                     entries_ * sizeof(UsedEntry));
  }
  std::uint16_t used_now() { return static_cast<std::uint16_t>(used_->index.load(MemoryOrder::acquire) - taken_); }
  std::optional<Used> fail(VirtioFault fault);
  void free_chain(std::uint16_t head);

  Descriptor* descriptors_ = nullptr;
  Available* available_ = nullptr;
  UsedRing* used_ = nullptr;
  VirtioChain* chains_ = nullptr;
  std::uint16_t entries_ = 0;
  std::uint16_t first_free_ = 0, free_ = 0;
  std::uint16_t added_ = 0, published_ = 0, taken_ = 0;  // chains, counted as the rings do: modulo 65536
  bool event_index_ = false;
  VirtioFault fault_ = VirtioFault::none;
};

}  // namespace ingot::os
