// A file's memory while a device uses it: it is neither used up, nor cut off, nor gone with the file.
#include <optional>

#include "os/file/file_fixture.h"
#include "os/file/image_file.h"
#include "os/file/memory_file.h"
#include "os/memory/address_space.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

class PinnedFiles : public Files {
 protected:
  struct NoFlusher final : TlbFlusher {
    void flush(const TlbFlush&) override {}
  };

  Owned<AddressSpace> make_space() {
    const MemoryServices memory_services{&frames, memory.window(), &flusher, &heap};
    return AddressSpace::create(memory_services, nullptr, VirtualAddress(1 << 20), VirtualAddress(1ull << 40)).value();
  }
  static VirtualAddress show(AddressSpace& space, const FileMapping& mapping, std::uint64_t bytes, Access access) {
    RegionRequest request;
    request.object = mapping.object;
    request.bytes = bytes;
    request.access = access;
    request.sharing = Sharing::shared;
    request.owner = mapping.owner;
    return space.add(request).value();
  }
  std::uint64_t free_frames() const { return frames.statistics().free; }

  NoFlusher flusher;
};

// Eight pages that were the image's, and that the allocator gets as a program lets go of them.
class ConsumedFiles : public PinnedFiles {
 protected:
  ConsumedFiles() {
    const PhysicalAddress begin = frames.allocate(3).value().address();
    __builtin_memset(memory.window().at<char>(begin), 'w', 8 * page_bytes);
    ImageContent content{{memory.window().at<std::byte>(begin), 8 * page_bytes}, begin, ImageContent::Tail::zeros};
    content.consumed = true;
    file =
        make_reference<ImageFile>(heap, make_volume(Volume::Writing::refused), content, 0644, Nanoseconds(0)).value();
    space = make_space();
    place = show(*space, file->open(0).value()->mapping(0, 8 * page_bytes, Access::read).value(), 8 * page_bytes,
                 Access::read);
  }

  Reference<ImageFile> file;
  Owned<AddressSpace> space;
  VirtualAddress place;
};

TEST_F(ConsumedFiles, AreNotUsedUpWhileADeviceReadsThem) {
  std::optional<PinnedPiece> first(space->pin(place + 2 * page_bytes + 8, page_bytes, Access::read).value());
  std::optional<PinnedPiece> second(space->pin(place + 2 * page_bytes, page_bytes, Access::read).value());
  const std::uint64_t before = free_frames();
  ASSERT_TRUE(space->remove(place, 8 * page_bytes).ok());
  EXPECT_GE(free_frames(), before + 7);  // and a page table's perhaps
  const std::uint64_t after = free_frames();
  EXPECT_EQ(*memory.window().at<char>(first->physical), 'w');
  first->unpin(frames);
  EXPECT_EQ(free_frames(), after);  // the other still uses it
  second->unpin(frames);
  EXPECT_EQ(free_frames(), after + 1);
  first.reset();
  second.reset();
  space.reset();
}

TEST_F(ConsumedFiles, KeepWhatIsShownWhenTheDeviceHasEnded) {
  const PinnedPiece piece = space->pin(place, page_bytes, Access::read).value();
  const std::uint64_t before = free_frames();
  piece.unpin(frames);
  EXPECT_EQ(free_frames(), before);
  EXPECT_TRUE(space->fault(place, Access::read).ok());
  ASSERT_TRUE(space->remove(place, 8 * page_bytes).ok());
  EXPECT_GE(free_frames(), before + 8);
  space.reset();
}

TEST_F(ConsumedFiles, StayUntilTheLastDeviceHasEnded) {
  PinnedPiece piece = space->pin(place, page_bytes, Access::read).value();
  ASSERT_TRUE(space->remove(place, 8 * page_bytes).ok());
  space.reset();
  file.reset();  // only the pin keeps it
  piece.unpin(frames);
  piece = {};
}

TEST_F(PinnedFiles, TruncatedPagesStayWithTheDevice) {
  const Reference<Node> file = make_memory_file(make_volume(Volume::Writing::allowed), 0644).value();
  auto space = make_space();
  {
    Reference<FileDescription> open = file->open(open_flag::read_write).value();
    ASSERT_TRUE(write(*open, "hello").ok());
    const VirtualAddress place = show(*space, open->mapping(0, page_bytes, Access::read | Access::write).value(),
                                      page_bytes, Access::read | Access::write);
    const PinnedPiece piece = space->pin(place, 5, Access::write).value();
    char* seen = memory.window().at<char>(piece.physical);
    ASSERT_TRUE(open->truncate(0).ok());
    EXPECT_FALSE(space->fault(place, Access::read).ok());
    ASSERT_TRUE(write(*open, "other").ok());  // behind the hole that was the first text
    seen[0] = 'J';                            // the device
    EXPECT_EQ(std::string_view(seen, 5), "Jello");
    EXPECT_EQ(frames.table().info(FrameNumber::containing(piece.physical)).references(), 0u);
    const std::uint64_t before = free_frames();
    piece.unpin(frames);
    EXPECT_EQ(free_frames(), before + 1);
  }
  space.reset();
}

}  // namespace
}  // namespace ingot::os
