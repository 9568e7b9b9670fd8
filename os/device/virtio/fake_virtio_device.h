// A device without a transport, and memory around it, as tests of drivers have them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "os/device/virtio/fake_virtio_ring.h"
#include "os/device/virtio/virtio_mmio.h"
#include "os/memory/fake_memory.h"
#include "os/memory/slab_allocator.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {

// A controller that remembers the line it was asked for, and the services that a device connects by.
class FakeInterrupts {
 public:
  class Controller final : public InterruptController {
   public:
    std::string_view name() const override { return "fake"; }
    InterruptLine isa_line(std::uint8_t number) const override { return {number}; }
    std::optional<std::uint8_t> fixed_vector(const InterruptLine&) const override { return std::nullopt; }
    Result<void> route(const InterruptLine& line, std::uint8_t, std::uint32_t) override {
      routed = line.number;
      return {};
    }
    void mask(std::uint32_t) override {}
    void unmask(std::uint32_t) override {}
    Result<InterruptMessage> message(std::uint8_t, std::uint32_t) const override { return InterruptMessage(); }
    void send(std::uint32_t, std::uint8_t) override {}
    void stop_others() override {}
    bool is_spurious(std::uint64_t) override { return false; }
    void end_of_interrupt(std::uint64_t) override {}
    std::uint32_t routed = 0;
  };

  VirtioDevice::InterruptServices services() { return {controller, table, kernel_}; }
  Controller controller;
  InterruptTable table;

 private:
  FakeMemory memory_{2 * mib};
  KernelMemory kernel_{frames_of(memory_), memory_.window(), PhysicalAddress(mib), PageSize::giant, Poison::on};
};

// Counts what is written, and remembers the last.
class CountingRegisters final : public VirtioRegisters {
 public:
  std::uint32_t read(std::uint32_t, std::uint32_t) const override { return 0; }
  void write(std::uint32_t, std::uint32_t, std::uint32_t value) override {
    last = value;
    ++writes;
    if (on_write) on_write();
  }
  std::uint32_t size() const override { return 16; }
  std::uint32_t last = 0;
  int writes = 0;
  std::function<void()> on_write;
};

// The kind's configuration, of any length.
class ByteRegisters final : public VirtioRegisters {
 public:
  std::uint32_t read(std::uint32_t offset, std::uint32_t count) const override {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + offset, count);
    return value;
  }
  void write(std::uint32_t, std::uint32_t, std::uint32_t) override {}
  std::uint32_t size() const override { return static_cast<std::uint32_t>(bytes.size()); }
  std::vector<std::uint8_t> bytes;
};

// Honest registers, laid out as VirtioMmio has them.
class FakeVirtioRegisters final : public VirtioRegisters {
 public:
  explicit FakeVirtioRegisters(PhysicalWindow window) : window_(window) {}

  std::uint32_t read(std::uint32_t offset, std::uint32_t) const override {
    switch (offset) {
      case 0x010: return static_cast<std::uint32_t>(offered >> (32 * values_[0x014]));
      case 0x034: return capacity;
      case 0x044: return rings.contains(static_cast<int>(values_[0x030])) ? 1 : 0;
      default: return values_[offset];
    }
  }
  void write(std::uint32_t offset, std::uint32_t, std::uint32_t value) override {
    values_[offset] = value;
    if (offset == 0x020) accepted |= std::uint64_t{value} << (32 * values_[0x024]);
    if (offset == 0x070 && value == 0) accepted = 0, rings.clear();
    const auto queue = static_cast<int>(values_[0x030]);
    if (offset != 0x044 || queue == refused_queue) return;
    rings[queue] = FakeVirtioRing(window_.at<std::byte>(PhysicalAddress(values_[0x080])),
                                  static_cast<std::uint16_t>(values_[0x038]), (accepted & virtio_event_index) != 0);
  }
  std::uint32_t size() const override { return VirtioMmio::register_bytes; }
  bool is_running() const { return (values_[0x070] & 4) != 0; }

  std::uint64_t offered = virtio_version_1 | virtio_event_index, accepted = 0;
  std::uint16_t capacity = 256;
  int refused_queue = -1;
  std::map<int, FakeVirtioRing> rings;  // of enabled queues

 private:
  PhysicalWindow window_;
  mutable std::map<std::uint32_t, std::uint32_t> values_;
};

// Before the device, which refers to them.
struct FakeVirtioParts {
  explicit FakeVirtioParts(PhysicalWindow window) : state(window) {}
  FakeVirtioRegisters state;
  ByteRegisters fields;
};

class FakeVirtioDevice final : public FakeVirtioParts, public VirtioDevice {
 public:
  explicit FakeVirtioDevice(PhysicalWindow window)
      : FakeVirtioParts(window), VirtioDevice(state, VirtioMmio::layout, fields) {}

  std::size_t interrupt_count() const override { return interrupts; }
  Result<void> connect(const InterruptServices&, std::span<const InterruptTarget> given,
                       InterruptHandler changed) override {
    targets.assign(given.begin(), given.end());
    configuration_target = changed;
    return {};
  }
  // As the device's interrupt would.
  void interrupt(std::size_t target) { call(targets[target].handler); }
  void interrupt_for_configuration() { call(configuration_target); }

  std::size_t interrupts = 4;
  std::map<int, CountingRegisters> doorbells;
  std::vector<InterruptTarget> targets;
  InterruptHandler configuration_target;

 private:
  Result<VirtioDoorbell> connect_queue(std::uint16_t queue, std::uint16_t) override {
    return VirtioDoorbell{&doorbells[queue], 0, 2, queue};
  }
  static void call(const InterruptHandler& handler) {
    arch::TrapFrame frame;
    handler.function(handler.context, frame);
  }
};

// A heap that refuses after so many allocations.
class LimitedHeap final : public Allocator {
 public:
  explicit LimitedHeap(Allocator& heap) : heap_(heap) {}
  using Allocator::allocate, Allocator::free;
  Result<void*> allocate(std::size_t bytes, std::size_t alignment) override {
    if (left == 0) return Error::of(ErrorCode::out_of_memory, "expected nothing, found a heap that refuses");
    --left;
    return heap_.allocate(bytes, alignment);
  }
  void free(void* block, std::size_t bytes, std::size_t alignment) override { heap_.free(block, bytes, alignment); }
  HeapStatistics statistics() const override { return heap_.statistics(); }
  int left = 1'000'000;

 private:
  Allocator& heap_;
};

// Frames, a heap in them, and a CPU: what a driver has around it.
class VirtioMachine : public ::testing::Test {
 protected:
  VirtioMachine() { arch::set_current_cpu(processor); }
  ~VirtioMachine() override { arch::hosted::thread.header = nullptr; }
  VirtioMemory virtio_memory() { return {frames, memory.window(), heap}; }
  void expect_all_given_back() {
    EXPECT_TRUE(heap.expect_no_leak().ok());
    slabs.trim();
    EXPECT_EQ(frames.statistics().free, free_at_start);
  }

  Processor processor{0};
  FakeMemory memory{16 * mib};
  FrameAllocator frames = frames_of(memory);
  const std::uint64_t free_at_start = frames.statistics().free;
  SlabAllocator slabs{frames, memory.window(), Poison::on};
  LimitedHeap heap{slabs};
  FakeVirtioDevice device{memory.window()};
  FakeInterrupts interrupts;
};

}  // namespace ingot::os
