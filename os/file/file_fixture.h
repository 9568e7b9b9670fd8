// What tests of files share: a little memory, a clock that stands still, a thread that can hold locks, and a tree.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "os/file/file_tree.h"
#include "os/memory/fake_memory.h"
#include "os/memory/frame_allocator.h"
#include "os/schedule/scheduler.h"
#include "os/schedule/test_heap.h"

namespace ingot::os::file_fixture {

struct StandingClock final : TimeSource {
  Nanoseconds monotonic() override { return now; }
  Nanoseconds realtime() override { return Nanoseconds(1'700'000'000'000'000'000) + now; }
  Nanoseconds now{1000};
};

// A program's memory, of which a part is missing.
struct HoledMemory final : TransferMemory {
  std::size_t copy_out(std::uint64_t address, std::span<const std::byte> from) override {
    const std::size_t there = reachable(address, from.size());
    if (there != 0) __builtin_memcpy(bytes.data() + address, from.data(), there);
    return there;
  }
  std::size_t copy_in(std::span<std::byte> to, std::uint64_t address) override {
    const std::size_t there = reachable(address, to.size());
    if (there != 0) __builtin_memcpy(to.data(), bytes.data() + address, there);
    return there;
  }
  std::size_t reachable(std::uint64_t address, std::size_t count) const {
    return address >= end ? 0 : std::min<std::size_t>(count, end - address);
  }
  std::vector<char> bytes = std::vector<char>(1 << 16);
  std::uint64_t end = 1 << 16;  // from here on nothing can be reached
};

// The names a directory lists, in its order.
struct ListingSink final : DirectorySink {
  Answer<bool> add(const Entry& entry) override {
    if (room-- == 0) return false;
    names.emplace_back(entry.name);
    kinds.push_back(entry.kind);
    return true;
  }
  std::vector<std::string> names;
  std::vector<FileKind> kinds;
  int room = 1000;
};

class Files : public ::testing::Test {
 protected:
  static constexpr std::uint64_t memory_bytes = 16 << 20;

  Files() : frames(make(memory)), free_at_start(frames.statistics().free) {
    heap.left = 1'000'000;
    arch::set_current_cpu(processor);
  }
  ~Files() override {
    arch::hosted::thread.header = nullptr;
    EXPECT_TRUE(heap.expect_no_leak().ok());
    EXPECT_EQ(frames.statistics().free, free_at_start);
  }

  static FrameAllocator make(const FakeMemory& memory) {
    MemoryMap map;
    EXPECT_TRUE(map.add({PhysicalAddress(0), memory_bytes, MemoryKind::usable}).ok());
    return FrameAllocator::create(map, memory.window(), memory.window().end()).value();
  }
  Reference<Volume> make_volume(Volume::Writing writing, Volume::Limits limits = {}) {
    return make_reference<Volume>(heap, services, next_device++, writing, limits).value();
  }
  Reference<MemoryDirectory> make_directory(const Reference<Volume>& volume, std::uint32_t permissions = 0755) {
    return make_reference<MemoryDirectory>(heap, volume, permissions).value();
  }

  static std::string read_all(FileDescription& file) {
    std::string text;
    char part[100];
    while (true) {
      KernelTransfer transfer(std::as_writable_bytes(std::span(part)));
      const Answer<std::size_t> moved = file.read(transfer);
      if (!moved.ok()) return "error " + std::string(name_of(moved.error()));
      if (moved.value() == 0) return text;
      text.append(part, moved.value());
    }
  }
  static Answer<std::size_t> write(FileDescription& file, std::string_view text) {
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    return file.write(transfer);
  }

  FakeMemory memory{memory_bytes};
  FrameAllocator frames;
  std::uint64_t free_at_start;
  TestHeap heap;
  StandingClock clock;
  Processor processor{0};
  Mutex names{LockRank::file_tree};
  FileServices services{&heap, &frames, memory.window(), &clock, &names};
  std::uint64_t next_device = 1;
};

}  // namespace ingot::os::file_fixture
