// What tests of address spaces share: a small machine, and a CPU that follows its page tables.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/random.h"
#include "os/memory/address_space.h"
#include "os/memory/fake_memory.h"
#include "os/memory/frame_allocator.h"
#include "os/memory/slab_allocator.h"
#include "os/schedule/scheduler.h"

namespace ingot::os::address_space_fixture {

inline constexpr Access read_write = Access::read | Access::write;
inline constexpr VirtualAddress low(1 * mib);
inline constexpr VirtualAddress high(0x7fff'ffff'f000);

struct CountingFlusher final : TlbFlusher {
  void flush(const TlbFlush&) override { ++flushes; }
  int flushes = 0;
};

// Refuses now and then, as if memory had run out at the worst moment.
class FlakyFrames final : public FrameSource {
 public:
  explicit FlakyFrames(FrameSource& frames) : frames_(frames) {}
  Result<FrameNumber> allocate(unsigned order, Zone zone) override {
    if (one_in != 0 && random.below(one_in) == 0)
      return Error::of(ErrorCode::out_of_memory, "expected luck, found none");
    return frames_.allocate(order, zone);
  }
  void release(FrameNumber frame, unsigned order) override { frames_.release(frame, order); }
  void unpin(FrameNumber frame) override { frames_.unpin(frame); }
  void adopt(FrameNumber begin, FrameNumber end) override { frames_.adopt(begin, end); }
  const FrameTable& table() const override { return frames_.table(); }

  std::uint64_t one_in = 0;
  RandomNumbers random{1};

 private:
  FrameSource& frames_;
};

class AddressSpaces : public ::testing::Test {
 protected:
  static constexpr std::uint64_t memory_bytes = 64 * mib;
  static constexpr std::uint64_t image_begin = 48 * mib;
  static constexpr std::uint64_t image_bytes = 8 * mib;

  AddressSpaces() : frames(make(memory)), free_at_start(frames.statistics().free) { arch::set_current_cpu(processor); }
  ~AddressSpaces() override {
    arch::hosted::thread.header = nullptr;
    EXPECT_TRUE(heap.expect_no_leak().ok());
    heap.trim();
    EXPECT_EQ(frames.statistics().free, free_at_start);
  }

  static FrameAllocator make(const FakeMemory& memory) {
    MemoryMap map;
    EXPECT_TRUE(map.add({PhysicalAddress(0), memory_bytes, MemoryKind::usable}).ok());
    EXPECT_TRUE(map.add({PhysicalAddress(image_begin), image_bytes, MemoryKind::image}).ok());
    return FrameAllocator::create(map, memory.window(), memory.window().end()).value();
  }
  Owned<AddressSpace> make_space() { return AddressSpace::create(services, nullptr, low, high).value(); }

  RegionRequest anonymous_request(std::uint64_t bytes, Access access = read_write) {
    RegionRequest request;
    request.object = &anonymous;
    request.bytes = bytes;
    request.access = access;
    return request;
  }

  // A CPU: follows the page table, and takes a fault where that does not allow the access.
  std::uint64_t* touch(AddressSpace& space, VirtualAddress address, Access access) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto page = space.table().find(address);
      if (page && allows(page->attributes.access, access)) {
        return memory.window().at<std::uint64_t>(page->physical + (address - page->address));
      }
      auto outcome = space.fault(address, access);
      if (!outcome.ok()) {
        refusal = std::string(outcome.error().text());
        code = outcome.error().code();
        return nullptr;
      }
    }
    ADD_FAILURE() << "a fault was answered and the access still fails";
    return nullptr;
  }

  Processor processor{0};  // whose idle thread takes the locks
  FakeMemory memory{memory_bytes};
  FrameAllocator frames;
  std::uint64_t free_at_start;
  FlakyFrames flaky{frames};
  SlabAllocator heap{flaky, memory.window(), Poison::on};
  CountingFlusher flusher;
  MemoryServices services{&flaky, memory.window(), &flusher, &heap};
  AnonymousMemory anonymous{flaky, memory.window()};
  PhysicalMemory image{"image", PhysicalAddress(image_begin), image_bytes, CacheMode::write_back};
  std::string refusal;
  ErrorCode code{};
};

}  // namespace ingot::os::address_space_fixture
