#include "os/memory/kernel_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/memory/fake_memory.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {
namespace {

struct CountedFlushes final : TlbFlusher {
  void flush(const TlbFlush&) override { ++count; }
  int count = 0;
};

struct LineSink final : LogSink {
  void write_line(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// The kernel's memory over an array, with a root table as the boot code would leave it.
class KernelMemories : public ::testing::Test {
 protected:
  KernelMemories() {
    arch::set_current_cpu(processor);
    FrameAllocator frames = frames_of(memory);
    const PhysicalAddress root = frames.allocate(page_order).value().address();
    memory.window().clear(root, page_bytes);
    kernel.emplace(std::move(frames), memory.window(), root, PageSize::giant, Poison::on);
    EXPECT_TRUE(kernel->prepare().ok());
    before = kernel->in_use();
  }
  ~KernelMemories() override {
    EXPECT_EQ(kernel->in_use(), before);
    arch::hosted::thread.header = nullptr;
  }

  Processor processor{0};
  FakeMemory memory{8 * mib};
  std::optional<KernelMemory> kernel;
  MemoryInUse before;
};

TEST_F(KernelMemories, GivesStacksApartWithAGuardAndFlushesBeforeTheirFramesGo) {
  CountedFlushes others;
  kernel->tlb().set_others(others);
  std::vector<KernelStack> stacks;
  for (std::uint64_t pages = 1; pages <= 15; ++pages) {
    stacks.push_back(kernel->allocate_stack(pages * page_bytes).value());
    const KernelStack& stack = stacks.back();
    EXPECT_EQ(stack.top() - stack.bottom(), pages * page_bytes);
    EXPECT_FALSE(kernel->table().find(stack.bottom() - 1));
    EXPECT_FALSE(kernel->table().find(stack.top()));
    for (std::uint64_t page = 0; page < pages; ++page) {
      const auto mapped = kernel->table().find(stack.bottom() + page * page_bytes);
      ASSERT_TRUE(mapped);
      EXPECT_EQ(mapped->attributes.access, Access::read | Access::write);
    }
  }
  EXPECT_EQ(others.count, 0);
  const VirtualAddress third = stacks[2].bottom(), top = stacks[2].top();
  stacks.erase(stacks.begin() + 2);
  EXPECT_EQ(others.count, 1);
  EXPECT_FALSE(kernel->table().find(third));
  EXPECT_EQ(kernel->allocate_stack(page_bytes).value().top(), top);  // its place is used again
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{100}, StackSlots::slot_bytes}) {
    EXPECT_EQ(kernel->allocate_stack(bytes).error().code(), ErrorCode::invalid_argument);
  }
}

TEST_F(KernelMemories, RefusesAStackItCannotFillAndKeepsNothing) {
  std::vector<KernelStack> stacks;
  for (;;) {
    Result<KernelStack> stack = kernel->allocate_stack(StackSlots::most_bytes);
    if (!stack.ok()) {
      EXPECT_EQ(stack.error().code(), ErrorCode::out_of_memory);
      break;
    }
    stacks.push_back(std::move(stack).value());
  }
  EXPECT_GT(stacks.size(), 100u);
}

TEST_F(KernelMemories, MapsDevicesAnywhereBySizesThatFit) {
  const VirtualAddress registers = kernel->map_device(PhysicalAddress(0xfee00f30), 0x100, CacheMode::uncached).value();
  EXPECT_EQ(registers.page_offset(), 0xf30u);
  EXPECT_EQ(kernel->table().find(registers + 0xff)->physical, PhysicalAddress(0xfee01000));
  EXPECT_EQ(kernel->table().find(registers)->attributes.cache, CacheMode::uncached);
  const PhysicalAddress far(std::uint64_t{1} << 45);
  const VirtualAddress large = kernel->map_device(far + page_bytes, 1024 * mib, CacheMode::write_combining).value();
  EXPECT_EQ(kernel->table().find(large)->size, PageSize::small);
  EXPECT_EQ(kernel->table().find(large + 4 * mib)->size, PageSize::large);
  EXPECT_EQ(kernel->table().find(large + 1024 * mib - 1)->physical, far + 1024 * mib);
  EXPECT_FALSE(kernel->table().find(large + 1024 * mib));
  const std::uint64_t end = std::uint64_t{1} << 52;
  EXPECT_FALSE(kernel->map_device(PhysicalAddress(end - page_bytes), 2 * page_bytes, CacheMode::uncached).ok());
  EXPECT_FALSE(kernel->map_device(PhysicalAddress(0), 0, CacheMode::uncached).ok());
  EXPECT_FALSE(kernel->map_device(PhysicalAddress(0), 257 * giant_page_bytes, CacheMode::uncached).ok());
}

TEST_F(KernelMemories, EachCpuHasACacheAndTheirFramesAreCountedAsFree) {
  ASSERT_TRUE(kernel->add_cpu(3).ok());
  EXPECT_FALSE(kernel->add_cpu(CachedFrames::most_cpus).ok());
  before = kernel->in_use();  // the cache itself is on the heap, for good
  const FrameNumber frame = kernel->frames().allocate(page_order).value();
  Processor other(3);
  arch::set_current_cpu(other);
  kernel->frames().release(frame, page_order);
  EXPECT_EQ(kernel->frames().allocate(page_order).value(), frame);  // from this CPU's own cache
  kernel->frames().release(frame, page_order);
  arch::set_current_cpu(processor);
  EXPECT_NE(kernel->frames().allocate(page_order).value(), frame);
  before.frames += 1;
}

TEST_F(KernelMemories, ReportsOnOnePageWhoHoldsWhat) {
  Log log;
  LineSink sink;
  log.add_sink(sink, LogLevel::debug);
  AnonymousMemory anonymous(kernel->frames(), kernel->window());
  std::vector<Owned<AddressSpace>> spaces;
  for (int i = 0; i < 20; ++i) {
    spaces.push_back(
        AddressSpace::create(kernel->services(), &kernel->table(), VirtualAddress(2 * mib), VirtualAddress(64 * mib))
            .value());
    RegionRequest request;
    request.object = &anonymous;
    request.bytes = 16 * page_bytes;
    const VirtualAddress place = spaces.back()->add(request).value();
    for (int page = 0; page < i % 3; ++page)
      ASSERT_TRUE(spaces.back()->fault(place + page * page_bytes, Access::read).ok());
  }
  EXPECT_EQ(spaces[2]->frames_held(), 2u);
  kernel->report_once(log);
  EXPECT_GE(sink.lines.size(), 5u);
  EXPECT_LE(sink.lines.size(), 24u);
  EXPECT_NE(sink.lines.back().find(", 1 by others"), std::string::npos) << sink.lines.back();  // the root
  const std::size_t lines = sink.lines.size();
  kernel->report_once(log);
  EXPECT_EQ(sink.lines.size(), lines);
}

}  // namespace
}  // namespace ingot::os
