// IngotMachine: what the kernel's network stack needs around it to be driven by a script: a clock that stands, a heap,
// a link on whose other side is a gateway that knows every way.
#pragma once

#include <climits>
#include <deque>
#include <random>

#include "os/memory/allocator.h"
#include "os/network/link.h"
#include "os/network/machine.h"
#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {

class HostHeap final : public os::CountingAllocator {
 public:
  HostHeap() : CountingAllocator(os::Poison::on) {}
  // Everything must have come back.
  ~HostHeap();
  int left = INT_MAX;  // allocations that still succeed

 private:
  void* take(std::size_t bytes, std::size_t alignment) override;
  void give_back(void* block, std::size_t bytes, std::size_t alignment) override;
};

class IngotMachine final : public os::network::Machine {
 public:
  static constexpr Nanoseconds never{INT64_MAX};

  Nanoseconds now() override { return time; }
  void fill_random(std::span<std::byte> bytes) override;
  os::network::HeapBlocks& blocks() override { return blocks_; }
  void wake_at(Nanoseconds wanted) override { wake = std::min(wake, wanted); }
  HostHeap& heap() { return heap_; }

  // A device brings the memory of what it receives: it is there, however little is left for others.
  os::network::Received packet(std::span<const std::uint8_t> bytes);

  Nanoseconds time{1'000'000'000'000}, wake = never;

 private:
  HostHeap heap_;
  os::network::HeapBlocks blocks_{heap_};
  std::mt19937 random_{20261117};
};

// Frames out: those of IP are kept for the script, questions for the gateway's hardware address are answered.
class IngotLink final : public os::network::Link {
 public:
  IngotLink(IngotMachine& machine, const Environment& place);

  const os::network::LinkProperties& properties() const override { return properties_; }
  bool is_up() const override { return true; }
  bool send(const os::network::Outgoing& packet) override;
  void flush() override {}

  // A packet of IP as a frame of the gateway's.
  Bytes frame(std::span<const std::uint8_t> packet) const;

  std::deque<SentPacket> sent;
  std::deque<Bytes> answers;  // frames of the gateway's that wait to be received

 private:
  void answer_arp(std::span<const std::uint8_t> frame);
  void answer_neighbour(std::span<const std::uint8_t> packet);

  IngotMachine& machine_;
  Environment place_;
  os::network::LinkProperties properties_;
};

}  // namespace ingot::network_scripts
