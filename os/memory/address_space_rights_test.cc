// What a region may become, who may write to what others execute, and what is done without the space's lock.
#include <initializer_list>

#include "os/memory/address_space_fixture.h"

namespace ingot::os {
namespace {

using namespace address_space_fixture;

constexpr Access read_execute = Access::read | Access::execute;

class AddressSpaceRights : public AddressSpaces {
 protected:
  RegionRequest image_request(Access access, Sharing sharing, std::uint64_t first_page = 0, std::uint64_t pages = 4) {
    RegionRequest request;
    request.object = &image;
    request.object_offset = first_page * page_bytes;
    request.bytes = pages * page_bytes;
    request.access = access;
    request.sharing = sharing;
    return request;
  }
  bool is_denied(AddressSpace& space, const RegionRequest& request) {
    const auto outcome = space.add(request);
    return !outcome.ok() && outcome.error().code() == ErrorCode::denied;
  }
  bool is_denied(AddressSpace& space, VirtualAddress begin, Access access) {
    const auto outcome = space.protect(begin, 4 * page_bytes, access);
    return !outcome.ok() && outcome.error().code() == ErrorCode::denied;
  }
};

TEST_F(AddressSpaceRights, EndAtTheMostThatARegionMayHave) {
  auto space = make_space();
  RegionRequest request = image_request(Access::read, Sharing::shared);
  request.most_access = read_execute;
  const VirtualAddress begin = space->add(request).value();
  EXPECT_TRUE(is_denied(*space, begin, read_write));
  EXPECT_EQ(touch(*space, begin, Access::write), nullptr);
  ASSERT_TRUE(space->protect(begin, request.bytes, Access::none).ok());
  EXPECT_TRUE(is_denied(*space, begin, read_write));
  ASSERT_TRUE(space->protect(begin, request.bytes, read_execute).ok());
  // Parts of it, and a copy of the space, may have no more.
  EXPECT_FALSE(space->protect(begin + page_bytes, page_bytes, read_write).ok());
  auto child = space->clone(nullptr).value();
  EXPECT_TRUE(is_denied(*child, begin, read_write));
}

TEST_F(AddressSpaceRights, NeverLetOneWriteWhatAnotherExecutes) {
  auto one = make_space();
  auto other = make_space();
  for (AddressSpace* executing : {one.get(), other.get()}) {
    for (const Sharing sharing : {Sharing::shared, Sharing::private_copy}) {
      // Written first.
      const VirtualAddress written = one->add(image_request(read_write, Sharing::shared)).value();
      EXPECT_TRUE(is_denied(*executing, image_request(read_execute, sharing)));
      EXPECT_TRUE(is_denied(*executing, image_request(read_execute, sharing, 100)));
      const VirtualAddress executed = executing->add(image_request(Access::read, sharing)).value();
      EXPECT_TRUE(is_denied(*executing, executed, read_execute));
      // Executed then: of no part of it can another be written, until the last part went.
      ASSERT_TRUE(one->protect(written, 4 * page_bytes, Access::read).ok());
      ASSERT_TRUE(executing->protect(executed, 4 * page_bytes, read_execute).ok());
      EXPECT_TRUE(is_denied(*one, written, read_write));
      EXPECT_TRUE(is_denied(*one, image_request(read_write, Sharing::shared)));
      EXPECT_FALSE(image.begin_writing());
      ASSERT_TRUE(executing->protect(executed + page_bytes, page_bytes, Access::read).ok());
      ASSERT_TRUE(executing->remove(executed, page_bytes).ok());
      EXPECT_TRUE(is_denied(*one, written, read_write));
      ASSERT_TRUE(executing->remove(executed + 2 * page_bytes, 2 * page_bytes).ok());
      ASSERT_TRUE(one->protect(written, 4 * page_bytes, read_write).ok());
      ASSERT_TRUE(one->remove(written, 4 * page_bytes).ok() && executing->remove(executed, 4 * page_bytes).ok());
    }
  }
  ASSERT_TRUE(image.begin_writing());
  EXPECT_TRUE(is_denied(*one, image_request(read_execute, Sharing::private_copy)));
  image.end_writing();
  // A copy of a space counts, and leaves with it.
  const VirtualAddress executed = one->add(image_request(read_execute, Sharing::private_copy)).value();
  auto child = one->clone(nullptr).value();
  ASSERT_TRUE(one->remove(executed, 4 * page_bytes).ok());
  EXPECT_TRUE(is_denied(*one, image_request(read_write, Sharing::shared)));
  child.reset();
  EXPECT_TRUE(one->add(image_request(read_write, Sharing::shared)).ok());
}

TEST_F(AddressSpaceRights, LetPrivateCopiesAndWhoWasGrantedItWrite) {
  auto space = make_space();
  const VirtualAddress executed = space->add(image_request(read_execute, Sharing::shared)).value();
  const VirtualAddress copy = space->add(image_request(read_write, Sharing::private_copy)).value();
  *touch(*space, copy, Access::write) = 5;
  EXPECT_NE(*touch(*space, executed, Access::read), 5u);
  ASSERT_TRUE(space->remove(executed, 4 * page_bytes).ok());

  services.allows_writable_code = true;
  auto granted = make_space();
  ASSERT_TRUE(granted->add(image_request(read_write, Sharing::shared)).ok());
  ASSERT_TRUE(granted->add(image_request(read_execute, Sharing::shared)).ok());
  EXPECT_TRUE(image.begin_writing());
  image.end_writing();
}

TEST_F(AddressSpaceRights, KnowNoOffsetsThatWrap) {
  auto space = make_space();
  RegionRequest request = image_request(Access::read, Sharing::shared, 0, 2);
  request.object_offset = 0 - page_bytes;
  EXPECT_EQ(space->add(request).error().code(), ErrorCode::overflow);
  request.object_offset = 0 - 2 * page_bytes;
  EXPECT_EQ(space->add(request).error().code(), ErrorCode::overflow);
  request.object_offset = std::uint64_t{3} << 62;  // as a driver's doorbells are mapped
  const VirtualAddress begin = space->add(request).value();
  EXPECT_EQ(touch(*space, begin, Access::read), nullptr);
  EXPECT_EQ(code, ErrorCode::out_of_range);
  EXPECT_TRUE(image.invalidate(0, image_bytes).ok());
}

TEST_F(AddressSpaceRights, JoinNeighboursAndFindTheirPagesAgain) {
  auto space = make_space();
  RegionRequest request = anonymous_request(page_bytes);
  request.lowest = low + 64 * mib;
  const VirtualAddress begin = space->add(request).value();
  for (int page = 1; page < 64; ++page) EXPECT_EQ(space->add(request).value(), begin + page * page_bytes);
  EXPECT_EQ(space->regions().size(), 1u);
  *touch(*space, begin + 7 * page_bytes, Access::write) = 7;
  for (int page = 0; page < 64; page += 2) {
    ASSERT_TRUE(space->protect(begin + page * page_bytes, page_bytes, Access::read).ok());
  }
  EXPECT_EQ(space->regions().size(), 64u);
  ASSERT_TRUE(space->protect(begin, 64 * page_bytes, read_write).ok());
  EXPECT_EQ(space->regions().size(), 1u);
  EXPECT_EQ(*touch(*space, begin + 7 * page_bytes, Access::read), 7u);
  ASSERT_TRUE(space->set_locked(begin + page_bytes, page_bytes, true).ok());
  EXPECT_EQ(space->regions().size(), 3u);
  EXPECT_FALSE(space->set_locked(begin, 65 * page_bytes, true).ok());
  ASSERT_TRUE(space->set_locked(begin, 64 * page_bytes, false).ok());
  EXPECT_EQ(space->regions().size(), 1u);
}

TEST_F(AddressSpaceRights, MovePagesWithoutRoomForBoth) {
  auto space = make_space();
  const std::uint64_t bytes = 32 * mib;  // of 56 that are free
  RegionRequest request = anonymous_request(bytes);
  request.address = low + 31 * mib;
  const VirtualAddress begin = space->add(request).value();
  for (std::uint64_t at = 0; at < bytes; at += page_bytes) *touch(*space, begin + at, Access::write) = at;
  const VirtualAddress to = space->move(begin, bytes, bytes + 2 * mib, low).value();
  EXPECT_FALSE(space->region_at(begin));
  EXPECT_EQ(space->table().find(to + 4 * mib)->size, PageSize::large);
  for (std::uint64_t at = 0; at < bytes; at += page_bytes) ASSERT_EQ(*touch(*space, to + at, Access::read), at);
  // A part of a region, where tables cannot be had: all is as it was.
  flaky.one_in = 1;
  EXPECT_FALSE(space->move(to + page_bytes, 2 * mib, 4 * mib, low + 1 * gib).ok());
  flaky.one_in = 0;
  EXPECT_EQ(space->regions().size(), 1u);
  const VirtualAddress part = space->move(to + page_bytes, 2 * mib, 4 * mib, low + 1 * gib).value();
  EXPECT_EQ(space->regions().size(), 3u);
  for (std::uint64_t at = 0; at < 2 * mib; at += page_bytes) {
    ASSERT_EQ(*touch(*space, part + at, Access::read), at + page_bytes);
  }
  EXPECT_EQ(space->frames_held() * page_bytes, bytes);
}

TEST_F(AddressSpaceRights, GrowWhereThereIsRoom) {
  auto space = make_space();
  RegionRequest request = anonymous_request(4 * mib);
  request.address = low + 7 * mib;
  const VirtualAddress begin = space->add(request).value();
  for (std::uint64_t bytes = 4 * mib; bytes < 5 * mib; bytes += page_bytes) {
    ASSERT_EQ(space->grow(begin, bytes, bytes + page_bytes).value(), begin);
  }
  EXPECT_EQ(space->regions().size(), 1u);
  EXPECT_EQ(space->grow(begin, 4 * mib, 6 * mib).error().code(), ErrorCode::out_of_memory);  // its own end is there
  EXPECT_EQ(space->grow(begin, 6 * mib, 7 * mib).error().code(), ErrorCode::not_found);
  EXPECT_FALSE(space->grow(begin, 5 * mib, 1024 * 1024 * gib).ok());
}

// Ready only when it was waited for; a page of it is a write that somebody counts.
class SlowMemory final : public MemoryObject {
 public:
  explicit SlowMemory(MemoryObject& content)
      : MemoryObject("slow", Pages::kept, PageSize::large, CacheMode::write_back), content_(content) {}
  Result<Backing> fault(std::uint64_t offset, PageSize size) override {
    if (is_ready) return content_.fault(offset, size);
    return Error::of(ErrorCode::would_block, "expected a disk's answer, found none yet");
  }
  void await(std::uint64_t, PageSize) override {
    EXPECT_TRUE(space->region_at(low + 8 * mib));  // which takes the lock
    ++waits;
    is_ready = waits % 2 == 0;  // once for nothing
  }
  void note_writing() override { ++writes; }

  AddressSpace* space = nullptr;
  bool is_ready = false;
  int waits = 0, writes = 0;

 private:
  MemoryObject& content_;
};

TEST_F(AddressSpaceRights, WaitForAnObjectWithoutTheLock) {
  SlowMemory slow(image);
  auto space = make_space();
  slow.space = space.get();
  RegionRequest request = image_request(read_write, Sharing::shared, 0, 1024);
  request.object = &slow;
  request.address = low + 8 * mib;
  const VirtualAddress begin = space->add(request).value();
  EXPECT_EQ(space->fault(begin, Access::read).value(), FaultWork::mapped);
  EXPECT_EQ(slow.waits, 2);
  slow.is_ready = false;
  for (std::uint64_t pinned = 0; pinned < 2 * mib;) {
    const Result<PinnedPiece> piece = space->pin(begin + 2 * mib + pinned, 2 * mib - pinned, Access::write);
    ASSERT_TRUE(piece.ok());
    pinned += piece.value().bytes;
    piece.value().unpin(frames);
  }
  EXPECT_EQ(slow.waits, 4);
  EXPECT_EQ(space->statistics().faults, 1u + 512u);  // of small pages: it lies askew
  EXPECT_EQ(space->statistics().refused_faults, 0u);
  space.reset();
}

TEST_F(AddressSpaceRights, ClearLargePagesWithoutTheLock) {
  class NewPages final : public MemoryObject {
   public:
    NewPages(MemoryObject& content, AddressSpace& space)
        : MemoryObject("new", Pages::fresh, PageSize::large, CacheMode::write_back), content_(content), space_(space) {}
    Result<Backing> fault(std::uint64_t offset, PageSize size) override {
      if (size == PageSize::large) {
        EXPECT_TRUE(space_.region_at(low + 8 * mib));
        const auto gone =
            goes ? space_.remove(low + 8 * mib, 4 * mib) : Result<void>();  // by another thread, meanwhile
        EXPECT_TRUE(gone.ok());
      }
      return content_.fault(offset, size);
    }
    bool goes = false;

   private:
    MemoryObject& content_;
    AddressSpace& space_;
  };
  auto space = make_space();
  NewPages pages(anonymous, *space);
  RegionRequest request = anonymous_request(4 * mib);
  request.object = &pages;
  request.address = low + 7 * mib;
  request.bytes = 5 * mib;
  const VirtualAddress begin = space->add(request).value();
  ASSERT_NE(touch(*space, begin + 1 * mib, Access::write), nullptr);
  EXPECT_EQ(space->table().find(begin + 1 * mib)->size, PageSize::large);
  pages.goes = true;
  EXPECT_EQ(touch(*space, begin + 3 * mib, Access::write), nullptr);
  EXPECT_EQ(code, ErrorCode::not_found);  // and the page that was made is free again
  space.reset();
}

TEST_F(AddressSpaceRights, TellAnObjectOfWritesOnce) {
  SlowMemory written(image);
  written.is_ready = true;
  auto space = make_space();
  RegionRequest request = image_request(read_write, Sharing::shared);
  request.object = &written;
  const VirtualAddress begin = space->add(request).value();
  ASSERT_NE(touch(*space, begin, Access::write), nullptr);
  space->note_writing(begin, 4 * page_bytes);
  EXPECT_EQ(written.writes, 0);  // nothing but a CPU says that a page was written
  const auto write = [&] {
    // Entries that the CPU would have marked: the last level's, of the page at `begin`.
    PhysicalAddress table = space->table().root();
    for (unsigned level = 3; level > 0; --level) {
      table = PhysicalAddress(memory.window().at<std::uint64_t>(table)[begin.value() >> (12 + 9 * level) & 511] &
                              0x000f'ffff'ffff'f000u);
    }
    memory.window().at<std::uint64_t>(table)[begin.value() >> 12 & 511] |= x86_64::PageTableFormat::dirty;
  };
  write();
  space->note_writing(begin, 4 * page_bytes);
  space->note_writing(begin, 4 * page_bytes);
  EXPECT_EQ(written.writes, 1);
  write();
  ASSERT_TRUE(space->remove(begin, 4 * page_bytes).ok());
  EXPECT_EQ(written.writes, 2);
  space.reset();
}

}  // namespace
}  // namespace ingot::os
