#include <string>
#include <vector>

#include "os/memory/address_space_fixture.h"

namespace ingot::os {
namespace {

using namespace address_space_fixture;

TEST_F(AddressSpaces, GiveZeroedMemoryOnFirstTouch) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(64 * 1024)).value();
  const std::uint64_t before = frames.statistics().free;
  std::uint64_t* word = touch(*space, begin + 40960, Access::read);
  ASSERT_NE(word, nullptr);
  EXPECT_EQ(*word, 0u);
  EXPECT_EQ(before - frames.statistics().free, 4u);  // the page and three tables
  *touch(*space, begin + 40960, Access::write) = 7;
  EXPECT_EQ(*touch(*space, begin + 40960, Access::read), 7u);
  EXPECT_EQ(space->fault(begin + 40960, Access::write).value(), FaultWork::nothing);
}

TEST_F(AddressSpaces, TakeLargePagesFirstAndCountHowOftenThatSucceeds) {
  auto space = make_space();
  RegionRequest request = anonymous_request(5 * mib);
  const VirtualAddress begin = space->add(request).value();
  EXPECT_TRUE(begin.aligned(large_page_bytes));
  ASSERT_NE(touch(*space, begin + 3 * mib, Access::write), nullptr);
  EXPECT_EQ(space->table().find(begin + 3 * mib)->size, PageSize::large);
  ASSERT_NE(touch(*space, begin + 5 * mib - 8, Access::write), nullptr);  // the last mebibyte is no whole large page
  EXPECT_EQ(space->table().find(begin + 5 * mib - 8)->size, PageSize::small);
  EXPECT_EQ(space->statistics().large_pages, 1u);
  EXPECT_EQ(space->statistics().small_pages, 1u);
  EXPECT_EQ(space->statistics().large_page_misses, 0u);

  request.purpose = RegionPurpose::stack;
  const VirtualAddress stack = space->add(request).value();
  ASSERT_NE(touch(*space, stack + 5 * mib - 8, Access::write), nullptr);
  ASSERT_NE(touch(*space, stack + 3 * mib, Access::write), nullptr);
  EXPECT_EQ(space->table().find(stack + 3 * mib)->size, PageSize::small);

  const VirtualAddress reservation = space->add(anonymous_request(4 * mib, Access::none)).value();
  EXPECT_EQ(touch(*space, reservation, Access::read), nullptr);
  ASSERT_TRUE(space->protect(reservation, 4 * mib, read_write).ok());
  ASSERT_NE(touch(*space, reservation, Access::read), nullptr);
  EXPECT_EQ(space->table().find(reservation)->size, PageSize::small);

  // Without large runs small pages do, and the miss is counted.
  std::vector<FrameNumber> hoard;
  for (auto run = frames.allocate(large_page_order); run.ok(); run = frames.allocate(large_page_order)) {
    hoard.push_back(run.value());
  }
  ASSERT_NE(touch(*space, begin, Access::write), nullptr);
  EXPECT_EQ(space->table().find(begin)->size, PageSize::small);
  EXPECT_EQ(space->statistics().large_page_misses, 1u);
  for (const FrameNumber run : hoard) frames.release(run, large_page_order);
}

TEST_F(AddressSpaces, ReportPreciselyWhatWasTouched) {
  auto space = make_space();
  RegionRequest request = anonymous_request(16 * page_bytes);
  request.address = VirtualAddress(0x10000000);
  request.purpose = RegionPurpose::stack;
  request.guard_bytes = 2 * page_bytes;
  ASSERT_TRUE(space->add(request).ok());
  EXPECT_EQ(touch(*space, VirtualAddress(0x8), Access::read), nullptr);
  EXPECT_EQ(code, ErrorCode::not_found);
  EXPECT_EQ(refusal, "expected a region for read at 0x8, found none");
  EXPECT_EQ(touch(*space, VirtualAddress(0x10001ff8), Access::write), nullptr);
  EXPECT_EQ(code, ErrorCode::not_found);
  EXPECT_NE(refusal.find("guard of [0x10000000, 0x10010000), found it 8 bytes below"), std::string::npos) << refusal;
  EXPECT_NE(touch(*space, VirtualAddress(0x10002000), Access::write), nullptr);
  ASSERT_TRUE(space->protect(VirtualAddress(0x10002000), page_bytes, Access::read).ok());
  EXPECT_EQ(touch(*space, VirtualAddress(0x10002010), Access::write), nullptr);
  EXPECT_EQ(code, ErrorCode::invalid_argument);
  EXPECT_NE(refusal.find("[0x10002000, 0x10003000) of anonymous that allows read"), std::string::npos) << refusal;
  EXPECT_EQ(space->statistics().refused_faults, 3u);
}

TEST_F(AddressSpaces, RefuseRegionsThatCannotBe) {
  auto space = make_space();
  RegionRequest request = anonymous_request(page_bytes);
  request.address = VirtualAddress(0);
  EXPECT_FALSE(space->add(request).ok());
  request.address = high - page_bytes;
  EXPECT_TRUE(space->add(request).ok());
  EXPECT_FALSE(space->add(request).ok());
  EXPECT_FALSE(space->add(anonymous_request(0)).ok());
  EXPECT_FALSE(space->add(anonymous_request(123)).ok());
  EXPECT_FALSE(space->add(anonymous_request(0 - page_bytes)).ok());
  EXPECT_FALSE(space->add(anonymous_request(page_bytes, Access::write | Access::execute)).ok());
  request = anonymous_request(page_bytes);
  request.sharing = Sharing::shared;
  EXPECT_EQ(space->add(request).error().code(), ErrorCode::unsupported);
  EXPECT_FALSE(space->protect(low, page_bytes, Access::read).ok());
  EXPECT_FALSE(space->remove(low + 1, page_bytes).ok());
  EXPECT_TRUE(space->remove(low, 100 * mib).ok());  // nothing there
}

TEST_F(AddressSpaces, ShowAnImageInPlaceByLargePagesAndCopyWhatIsWritten) {
  auto space = make_space();
  RegionRequest request;
  request.object = &image;
  request.bytes = image_bytes;
  const VirtualAddress weights = space->add(request).value();
  *memory.window().at<std::uint64_t>(PhysicalAddress(image_begin + 5 * mib)) = 99;
  const std::uint64_t* word = touch(*space, weights + 5 * mib, Access::read);
  ASSERT_NE(word, nullptr);
  EXPECT_EQ(word, memory.window().at<std::uint64_t>(PhysicalAddress(image_begin + 5 * mib)));
  EXPECT_EQ(space->table().find(weights + 5 * mib)->size, PageSize::large);

  // Once it may be written, the first write takes a copy of one small page out of the large one.
  ASSERT_TRUE(space->protect(weights, image_bytes, read_write).ok());
  *touch(*space, weights + 5 * mib, Access::write) = 100;
  EXPECT_EQ(*memory.window().at<std::uint64_t>(PhysicalAddress(image_begin + 5 * mib)), 99u);
  EXPECT_EQ(*touch(*space, weights + 5 * mib, Access::read), 100u);
  EXPECT_EQ(space->table().find(weights + 5 * mib + page_bytes)->attributes.ownership, FrameOwnership::borrowed);

  // An object that takes its memory away: copies stay.
  ASSERT_TRUE(image.invalidate(4 * mib, 2 * mib).ok());
  EXPECT_FALSE(space->table().find(weights + 5 * mib + page_bytes));
  EXPECT_EQ(*touch(*space, weights + 5 * mib, Access::read), 100u);

  PhysicalMemory registers("registers", PhysicalAddress(3 * gib), 16 * page_bytes, CacheMode::uncached);
  request = {};
  request.object = &registers;
  request.bytes = 16 * page_bytes;
  request.access = read_write;
  const VirtualAddress private_registers = space->add(request).value();
  EXPECT_EQ(space->fault(private_registers, Access::write).error().code(), ErrorCode::unsupported);
  ASSERT_TRUE(space->remove(private_registers, request.bytes).ok());
  request.sharing = Sharing::shared;
  const VirtualAddress device = space->add(request).value();
  ASSERT_TRUE(space->fault(device, Access::write).ok());
  EXPECT_EQ(space->table().find(device)->attributes.cache, CacheMode::uncached);
  request.object_offset = 16 * page_bytes;
  const VirtualAddress beyond = space->add(request).value();
  EXPECT_EQ(space->fault(beyond, Access::read).error().code(), ErrorCode::out_of_range);
  space.reset();
}

// Frames that the object keeps, and counts for each mapping: as files in memory do.
class CountedPages final : public MemoryObject {
 public:
  explicit CountedPages(FrameSource& frames)
      : MemoryObject("counted", Pages::kept, PageSize::small, CacheMode::write_back), frames_(frames) {
    for (FrameNumber& page : pages) page = frames_.allocate(page_order).value();
  }
  ~CountedPages() {
    for (const FrameNumber page : pages) frames_.release(page, page_order);
  }
  Result<Backing> fault(std::uint64_t offset, PageSize size) override {
    if (size != PageSize::small || offset >= 4 * page_bytes) return Error::of(ErrorCode::out_of_range, "beyond");
    frames_.table().info(pages[offset / page_bytes]).add_references(1);
    return Backing{pages[offset / page_bytes].address(), FrameOwnership::counted};
  }
  void let_go(std::uint64_t offset, std::uint64_t bytes, const Region& by) override {
    let.push_back({offset, bytes, by.is_linked()});
  }

  struct LetGo {
    std::uint64_t offset, bytes;
    bool still_shown;
    bool operator==(const LetGo&) const = default;
  };
  FrameNumber pages[4];
  std::vector<LetGo> let;

 private:
  FrameSource& frames_;
};

TEST_F(AddressSpaces, KeepPrivateWritesFromAnObjectsOwnFrames) {
  CountedPages object(frames);
  auto space = make_space();
  RegionRequest request;
  request.object = &object;
  request.bytes = 4 * page_bytes;
  request.access = read_write;
  const VirtualAddress mine = space->add(request).value();
  request.sharing = Sharing::shared;
  const VirtualAddress ours = space->add(request).value();
  *touch(*space, ours, Access::write) = 5;
  *touch(*space, mine, Access::write) = 6;  // at once
  EXPECT_EQ(*touch(*space, mine + page_bytes, Access::read), *touch(*space, ours + page_bytes, Access::read));
  *touch(*space, mine + page_bytes, Access::write) = 7;  // after a look
  EXPECT_EQ(*touch(*space, ours, Access::read), 5u);
  EXPECT_NE(*touch(*space, ours + page_bytes, Access::read), 7u);
  EXPECT_EQ(*touch(*space, mine, Access::read), 6u);
  EXPECT_EQ(*touch(*space, mine + page_bytes, Access::read), 7u);
  // Withdrawn from who shares it; what was copied stays.
  ASSERT_TRUE(object.invalidate(0, 4 * page_bytes).ok());
  EXPECT_FALSE(space->table().find(ours));
  EXPECT_EQ(*touch(*space, mine, Access::read), 6u);
  space.reset();
}

TEST_F(AddressSpaces, TellTheObjectWhatIsLetGo) {
  CountedPages object(frames);
  auto space = make_space();
  RegionRequest request;
  request.object = &object;
  request.bytes = 4 * page_bytes;
  const VirtualAddress begin = space->add(request).value();
  ASSERT_TRUE(space->discard(begin + page_bytes, 2 * page_bytes).ok());
  ASSERT_TRUE(space->remove(begin + 2 * page_bytes, 8 * page_bytes).ok());
  using LetGo = CountedPages::LetGo;
  EXPECT_EQ(object.let,
            (std::vector<LetGo>{{page_bytes, 2 * page_bytes, true}, {2 * page_bytes, 2 * page_bytes, false}}));
  space.reset();
}

TEST_F(AddressSpaces, PlaceRegionsWhereGiantPagesFit) {
  // Only its addresses matter: nothing is touched.
  const std::uint64_t begin = 5 * gib + 6 * mib;
  PhysicalMemory weights("weights", PhysicalAddress(begin), 3 * gib, CacheMode::write_back);
  auto space = make_space();
  RegionRequest request;
  request.object = &weights;
  request.bytes = 3 * gib;
  const VirtualAddress place = space->add(request).value();
  EXPECT_EQ(place.value() % gib, 6 * mib);
  ASSERT_TRUE(space->fault(place + 2 * gib, Access::read).ok());
  EXPECT_EQ(space->table().find(place + 2 * gib)->size, PageSize::giant);
  ASSERT_TRUE(space->fault(place, Access::read).ok());
  EXPECT_EQ(space->table().find(place)->size, PageSize::large);
  request.bytes = 5 * mib;
  request.object_offset = 3 * page_bytes;
  const VirtualAddress part = space->add(request).value();
  EXPECT_EQ(part.value() % large_page_bytes, 3 * page_bytes);
  space.reset();
}

TEST_F(AddressSpaces, CloneByCopyOnWriteAndCopyPinnedPagesAtOnce) {
  auto parent = make_space();
  const VirtualAddress begin = parent->add(anonymous_request(4 * mib)).value();
  *touch(*parent, begin, Access::write) = 1;
  *touch(*parent, begin + 2 * mib, Access::write) = 2;
  const PinnedPiece piece = parent->pin(begin + 2 * mib + 4096, 8192, Access::read).value();
  EXPECT_EQ(piece.bytes, 8192u);
  const std::uint64_t before = frames.statistics().free;
  auto child = parent->clone(nullptr).value();
  EXPECT_LT(before - frames.statistics().free, 512u + 16u);  // the pinned large page, tables, the space itself
  const auto parents_frame = parent->table().translate(begin + 2 * mib);
  *touch(*parent, begin, Access::write) = 10;
  EXPECT_EQ(*touch(*child, begin, Access::read), 1u);
  *touch(*child, begin, Access::write) = 11;
  EXPECT_EQ(child->statistics().copies, 0u);  // the parent's copy left this one to the child alone
  EXPECT_EQ(parent->statistics().copies, 1u);
  EXPECT_EQ(*touch(*parent, begin, Access::read), 10u);
  *touch(*parent, begin + 2 * mib, Access::write) = 20;
  EXPECT_EQ(parent->table().translate(begin + 2 * mib), parents_frame);
  EXPECT_EQ(*touch(*child, begin + 2 * mib, Access::read), 2u);
  // Pinned memory outlives its space.
  parent.reset();
  EXPECT_GE(frames.table().info(frames.table().head_of(FrameNumber::containing(piece.physical))).pins(), 1u);
  piece.unpin(frames);
}

TEST_F(AddressSpaces, PinWhatAPrivateWriteWouldOtherwiseLeaveBehind) {
  auto space = make_space();
  RegionRequest request;
  request.object = &image;
  request.bytes = 4 * page_bytes;
  request.access = read_write;
  const VirtualAddress begin = space->add(request).value();
  const PinnedPiece piece = space->pin(begin + 100, page_bytes, Access::read).value();
  EXPECT_EQ(piece.bytes, page_bytes - 100);
  EXPECT_EQ(piece.lender, nullptr);  // a copy, which carries its pin
  EXPECT_EQ(touch(*space, begin + 104, Access::write), memory.window().at<std::uint64_t>(piece.physical + 4));
  EXPECT_FALSE(space->pin(begin + 4 * page_bytes, page_bytes, Access::read).ok());
  piece.unpin(frames);
}

TEST_F(AddressSpaces, StayWholeWhenMemoryRunsOut) {
  auto space = make_space();
  const VirtualAddress begin = space->add(anonymous_request(256 * mib)).value();
  VirtualAddress address = begin;
  while (touch(*space, address, Access::write) != nullptr) {
    *touch(*space, address, Access::write) = address.value();
    address += page_bytes;
  }
  EXPECT_EQ(code, ErrorCode::out_of_memory);
  EXPECT_GT(address - begin, 40 * mib);
  EXPECT_FALSE(space->clone(nullptr).ok());
  for (VirtualAddress page = begin; page < address; page += page_bytes) {
    ASSERT_EQ(*touch(*space, page, Access::read), page.value());
  }
  // Giving one page back may itself need a frame, to split a large one; giving back a large page never does.
  ASSERT_TRUE(space->remove(begin, 2 * mib).ok());
  ASSERT_TRUE(space->remove(begin + 3 * mib, page_bytes).ok());
}

}  // namespace
}  // namespace ingot::os
