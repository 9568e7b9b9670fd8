#include "os/device/dma_list.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "os/memory/address_space_fixture.h"
#include "os/memory/kernel_memory.h"

namespace ingot::os {
namespace {

using Pieces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // address, bytes

Pieces pieces_of(const DmaList& list) {
  Pieces pieces;
  list.each_piece([&](PhysicalAddress begin, std::uint64_t bytes) { pieces.push_back({begin.value(), bytes}); });
  return pieces;
}

class DmaLists : public address_space_fixture::AddressSpaces {
 protected:
  Result<DmaList> list_of(AddressSpace& space, VirtualAddress address, std::uint64_t bytes, const DmaUse& use) {
    return DmaList::of_program(heap, flaky, space, address, bytes, use);
  }
  std::uint64_t& word_at(std::uint64_t physical) {
    return *memory.window().at<std::uint64_t>(PhysicalAddress(physical));
  }
};

TEST_F(DmaLists, MakeUntouchedMemoryPresentInAsFewPiecesAsItHas) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(4 * mib)).value();
  const DmaList list = list_of(*space, begin + 100, 2 * mib, {Access::write}).value();
  const Pieces pieces = pieces_of(list);
  std::uint64_t sum = 0;
  for (const auto& [address, bytes] : pieces) sum += bytes;
  EXPECT_EQ(sum, 2 * mib);
  EXPECT_LE(pieces.size(), 2u);  // two large pages
  EXPECT_EQ(touch(*space, begin + 104, Access::write), &word_at(pieces[0].first + 4));
}

TEST_F(DmaLists, MergeNeighbouringPages) {
  auto space = make_space();
  RegionRequest request;
  request.object = &image;
  request.bytes = 5 * page_bytes;
  request.sharing = Sharing::shared;
  const VirtualAddress begin = space->add(request).value();
  const DmaList list = list_of(*space, begin + 8, 3 * page_bytes, {}).value();
  EXPECT_EQ(pieces_of(list), (Pieces{{image_begin + 8, 3 * page_bytes}}));
  EXPECT_FALSE(list_of(*space, begin, page_bytes, {Access::write}).ok());  // the program may not write there either
}

// What the program does meanwhile to its addresses changes nothing for the device; the memory is free when it is done.
TEST_F(DmaLists, KeepPagesThatTheProgramLetsGo) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(16 * page_bytes)).value();
  for (const bool unmaps : {false, true}) {
    *touch(*space, begin, Access::write) = 7;
    std::optional<DmaList> list(list_of(*space, begin, 2 * page_bytes, {Access::write}).value());
    const Pieces pieces = pieces_of(*list);
    const FrameInfo& info = frames.table().info(FrameNumber::containing(PhysicalAddress(pieces[0].first)));
    EXPECT_EQ(info.references(), 1u);
    ASSERT_TRUE((unmaps ? space->remove(begin, 16 * page_bytes) : space->discard(begin, 16 * page_bytes)).ok());
    EXPECT_EQ(info.references(), 0u);
    EXPECT_TRUE(info.allocated());
    EXPECT_EQ(word_at(pieces[0].first), 7u);
    if (!unmaps) {
      EXPECT_EQ(*touch(*space, begin, Access::read), 0u);  // another page
      ASSERT_TRUE(space->discard(begin, page_bytes).ok());
    }
    word_at(pieces[0].first) = 9;  // the device
    list.reset();
    EXPECT_FALSE(info.allocated());
  }
}

// What a device that was lost may still write to is nobody's any more; the rest is free.
TEST_F(DmaLists, ThatAreAbandonedKeepWhatIsAskedFor) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(2 * page_bytes)).value();
  DmaList list = list_of(*space, begin, 2 * page_bytes, {Access::write}).value();
  FrameNumber kept, given_back;
  int seen = 0;
  list.abandon([&](const PinnedPiece& piece) {
    (seen == 0 ? kept : given_back) = FrameNumber::containing(piece.physical);
    return seen++ == 0;
  });
  EXPECT_EQ(seen, 2);
  ASSERT_TRUE(space->remove(begin, 2 * page_bytes).ok());
  EXPECT_TRUE(frames.table().info(kept).allocated());
  EXPECT_EQ(frames.table().info(kept).pins(), 1u);
  EXPECT_FALSE(frames.table().info(given_back).allocated());
  const std::uint64_t total = frames.statistics().total;
  frames.retire(1);
  EXPECT_EQ(frames.statistics().total, total - 1);
  frames.unpin(kept);  // for the fixture, which counts
}

TEST_F(DmaLists, OutliveTheSpaceAndLargePagesStayWhole) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(4 * mib)).value();
  const DmaList list = list_of(*space, begin + mib, page_bytes, {Access::write}).value();
  const std::uint64_t before = frames.statistics().free;
  space.reset();
  EXPECT_LT(frames.statistics().free, before + 512);  // tables went, the large page did not
  word_at(pieces_of(list)[0].first) = 1;
}

TEST_F(DmaLists, GiantPagesAreOnePiece) {
  const PhysicalAddress far(4 * gib);  // only its addresses matter: nothing is touched
  PhysicalMemory weights("weights", far, 3 * gib, CacheMode::write_back);
  auto space = make_space();
  RegionRequest request;
  request.object = &weights;
  request.bytes = 3 * gib;
  const VirtualAddress begin = space->add(request).value();
  const DmaList list = list_of(*space, begin + mib, 2 * gib, {}).value();
  EXPECT_EQ(pieces_of(list), (Pieces{{4 * gib + mib, 2 * gib}}));
  EXPECT_EQ(space->table().find(begin)->size, PageSize::giant);
  space.reset();
}

TEST_F(DmaLists, RefusedOnesKeepNothing) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(4 * page_bytes)).value();
  EXPECT_FALSE(list_of(*space, begin, 0, {}).ok());
  EXPECT_FALSE(list_of(*space, begin, 5 * page_bytes, {}).ok());                 // beyond the region
  EXPECT_FALSE(list_of(*space, begin, 4 * page_bytes, {Access::execute}).ok());  // a right that is missing
  EXPECT_FALSE(list_of(*space, begin, page_bytes, {Access::read, PhysicalAddress(4096)}).ok());  // out of reach
  const std::uint64_t free = frames.statistics().free;
  ASSERT_TRUE(space->discard(begin, 4 * page_bytes).ok());
  EXPECT_GE(frames.statistics().free, free + 4);
  // At whatever moment memory runs out.
  flaky.one_in = 3;
  for (int round = 0; round < 200; ++round) {
    static_cast<void>(list_of(*space, begin, 4 * page_bytes, {Access::write}));
    static_cast<void>(space->discard(begin, 4 * page_bytes));
  }
  flaky.one_in = 0;
}

TEST(KernelDmaLists, FollowTheKernelsOwnPages) {
  Processor processor(0);
  arch::set_current_cpu(processor);
  FakeMemory memory(8 * mib);
  FrameAllocator frames = frames_of(memory);
  const PhysicalAddress root = frames.allocate(page_order).value().address();
  memory.window().clear(root, page_bytes);
  KernelMemory kernel(std::move(frames), memory.window(), root, PageSize::giant, Poison::on);
  ASSERT_TRUE(kernel.prepare().ok());
  {
    const KernelStack stack = kernel.allocate_stack(2 * page_bytes).value();
    const auto list_of = [&](VirtualAddress address, std::uint64_t bytes) {
      return DmaList::of_kernel(kernel.heap(), kernel.frames(), kernel.table(), address, bytes, {Access::write});
    };
    const DmaList list = list_of(stack.bottom() + 64, page_bytes).value();
    EXPECT_EQ(pieces_of(list)[0].first, kernel.table().translate(stack.bottom() + 64)->value());
    EXPECT_FALSE(list_of(stack.bottom() - page_bytes, 2 * page_bytes).ok());  // its guard
  }
  arch::hosted::thread.header = nullptr;
}

}  // namespace
}  // namespace ingot::os
