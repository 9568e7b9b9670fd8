#include "os/file/memory_file.h"

#include <algorithm>
#include <map>

#include "base/random.h"
#include "os/file/file_fixture.h"
#include "os/file/used_up_pages.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

class MemoryFiles : public Files {
 protected:
  static constexpr std::uint64_t quota_pages = 64;

  Reference<FileDescription> open(std::uint32_t flags = open_flag::read_write) { return file->open(flags).value(); }
  static std::string read_at(FileDescription& description, std::uint64_t offset, std::size_t bytes) {
    std::string text(bytes, '?');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const Answer<std::size_t> moved = description.read_at(transfer, offset);
    if (!moved.ok()) return "error " + std::string(name_of(moved.error()));
    text.resize(moved.value());
    return text;
  }
  static Answer<std::size_t> write_at(FileDescription& description, std::uint64_t offset, std::string_view text) {
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    return description.write_at(transfer, offset);
  }

  Reference<Volume> volume = make_volume(Volume::Writing::allowed, {quota_pages, 8});
  Reference<Node> file = make_memory_file(volume, 0644).value();
};

TEST_F(MemoryFiles, AnAppendedFileGrowsWhateverTheOffset) {
  Reference<FileDescription> it = open(open_flag::read_write | open_flag::append);
  Reference<FileDescription> other = open(open_flag::write_only | open_flag::append);
  EXPECT_EQ(write(*it, "one").value(), 3u);
  EXPECT_EQ(write(*other, "two").value(), 3u);
  EXPECT_EQ(write_at(*it, 0, "three").value(), 5u);  // as Linux's pwrite
  EXPECT_EQ(it->seek(0, Whence::current).value(), 3u);
  EXPECT_EQ(write(*it, "!").value(), 1u);
  EXPECT_EQ(read_at(*it, 0, 100), "onetwothree!");
  EXPECT_TRUE(it->synchronize().ok());
}

TEST_F(MemoryFiles, HoldWhatWasWritten) {
  Reference<FileDescription> it = open();
  EXPECT_EQ(write(*it, "hello").value(), 5u);
  EXPECT_EQ(write(*it, " world").value(), 6u);
  EXPECT_EQ(it->seek(0, Whence::current).value(), 11u);
  EXPECT_EQ(read_at(*it, 0, 100), "hello world");
  EXPECT_EQ(read_at(*it, 6, 3), "wor");
  EXPECT_EQ(read_at(*it, 11, 3), "");
  EXPECT_EQ(read_at(*it, 1 << 30, 3), "");
  EXPECT_EQ(it->status().value().bytes, 11u);
  EXPECT_EQ(it->status().value().allocated_bytes, page_bytes);
  EXPECT_EQ(it->seek(-1, Whence::begin).error(), Errno::einval);
  EXPECT_EQ(it->seek(-4, Whence::end).value(), 7u);
  EXPECT_EQ(read_all(*it), "orld");
}

TEST_F(MemoryFiles, OpenedForOneThingRefuseTheOther) {
  EXPECT_EQ(write(*open(open_flag::read_only), "x").error(), Errno::ebadf);
  EXPECT_EQ(read_all(*open(open_flag::write_only)), "error EBADF");
}

TEST_F(MemoryFiles, AppendingGoesToTheEnd) {
  Reference<FileDescription> it = open(open_flag::read_write | open_flag::append);
  EXPECT_TRUE(write(*it, "one").ok());
  EXPECT_EQ(it->seek(0, Whence::begin).value(), 0u);
  EXPECT_TRUE(write(*it, "two").ok());
  EXPECT_EQ(read_at(*it, 0, 10), "onetwo");
}

TEST_F(MemoryFiles, HolesAreZerosAndCostNothing) {
  Reference<FileDescription> it = open();
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  EXPECT_EQ(write_at(*it, far, "end").value(), 3u);
  EXPECT_EQ(it->status().value().bytes, far + 3);
  EXPECT_LT(volume->pages_in_use(), 8u);  // one page, and the tables above it
  EXPECT_EQ(read_at(*it, far - 2, 10), std::string("\0\0end", 5));
  EXPECT_EQ(read_at(*it, 12345, 3), std::string(3, '\0'));
  EXPECT_EQ(it->seek(0, Whence::data).value(), far);
  EXPECT_EQ(it->seek(0, Whence::hole).value(), 0u);
  EXPECT_EQ(it->seek(static_cast<std::int64_t>(far), Whence::hole).value(), far + 3);
  EXPECT_EQ(it->seek(static_cast<std::int64_t>(far + 3), Whence::data).error(), Errno::enxio);
}

TEST_F(MemoryFiles, WhatWasCutOffComesBackAsZeros) {
  Reference<FileDescription> it = open();
  EXPECT_TRUE(write(*it, std::string(3 * page_bytes, 'x')).ok());
  EXPECT_TRUE(it->truncate(100).ok());
  EXPECT_EQ(volume->pages_in_use(), 2u);  // the page and its table
  EXPECT_TRUE(it->truncate(5000).ok());
  EXPECT_EQ(read_at(*it, 98, 5), std::string("xx\0\0\0", 5));
  EXPECT_EQ(read_at(*it, 4998, 100), std::string(2, '\0'));
  EXPECT_TRUE(it->truncate(0).ok());
  EXPECT_EQ(volume->pages_in_use(), 0u);
}

TEST_F(MemoryFiles, TheQuotaIsEnospcAndNothingIsLost) {
  Reference<FileDescription> it = open();
  const std::string much(100 * page_bytes, 'x');
  const std::size_t written = write(*it, much).value();
  EXPECT_EQ(written, (quota_pages - 1) * page_bytes);  // a table is paid for as well
  EXPECT_EQ(write(*it, "x").error(), Errno::enospc);
  EXPECT_EQ(volume->pages_in_use(), quota_pages);
  EXPECT_TRUE(it->truncate(page_bytes).ok());
  EXPECT_EQ(write_at(*it, page_bytes, "x").value(), 1u);
}

TEST_F(MemoryFiles, NodesHaveAQuotaToo) {
  std::vector<Reference<Node>> files;
  for (int i = 0; i < 7; ++i) files.push_back(make_memory_file(volume, 0).value());
  EXPECT_EQ(make_memory_file(volume, 0).error(), Errno::enospc);
  files.pop_back();
  EXPECT_TRUE(make_memory_file(volume, 0).ok());
}

TEST_F(MemoryFiles, WhatIsReservedCanBeWritten) {
  Reference<FileDescription> it = open();
  using Reserved = FileDescription::Reserved;
  EXPECT_TRUE(it->reserve(0, 10 * page_bytes, Reserved::grows).ok());
  EXPECT_EQ(it->status().value().bytes, 10 * page_bytes);
  EXPECT_EQ(it->status().value().allocated_bytes, 10 * page_bytes);
  EXPECT_TRUE(it->reserve(10 * page_bytes, page_bytes, Reserved::keeps_size).ok());
  EXPECT_EQ(it->status().value().bytes, 10 * page_bytes);
  EXPECT_EQ(it->status().value().allocated_bytes, 11 * page_bytes);
  EXPECT_TRUE(it->truncate(10 * page_bytes).ok());
  EXPECT_EQ(it->status().value().allocated_bytes, 10 * page_bytes);
}

TEST_F(MemoryFiles, WhatCannotBeReservedIsGivenBack) {
  Reference<FileDescription> it = open();
  EXPECT_EQ(write_at(*it, 0, "x").value(), 1u);
  EXPECT_EQ(it->reserve(0, 1000 * page_bytes, FileDescription::Reserved::grows).error(), Errno::enospc);
  EXPECT_EQ(it->status().value().bytes, 1u);
  // In parts: whoever holds the file's lock for all of them would keep others waiting.
  it->begin_reserving();
  std::uint64_t allocated = it->status().value().allocated_bytes;
  EXPECT_GT(allocated, 50 * page_bytes);
  int parts = 1;
  for (; !it->end_reserving(8 * page_bytes); ++parts) {
    const std::uint64_t before = std::exchange(allocated, it->status().value().allocated_bytes);
    EXPECT_LE(before - allocated, 8 * page_bytes);
  }
  EXPECT_GT(parts, 6);
  EXPECT_EQ(it->status().value().allocated_bytes, page_bytes);
  it->begin_reserving();
  EXPECT_TRUE(it->end_reserving(page_bytes));
  EXPECT_EQ(write_at(*it, page_bytes, "y").value(), 1u);
}

TEST_F(MemoryFiles, WhatWasPromisedBeforeStays) {
  Reference<FileDescription> it = open();
  using Reserved = FileDescription::Reserved;
  it->begin_reserving();
  EXPECT_TRUE(it->reserve(2 * page_bytes, page_bytes, Reserved::keeps_size).ok());
  EXPECT_TRUE(it->reserve(5 * page_bytes, page_bytes, Reserved::part).ok());
  EXPECT_EQ(it->reserve(0, 1000 * page_bytes, Reserved::part).error(), Errno::enospc);
  EXPECT_TRUE(it->end_reserving(1000 * page_bytes));
  EXPECT_EQ(it->status().value().allocated_bytes, 3 * page_bytes);  // up to the promised one
  EXPECT_TRUE(it->truncate(0).ok());
  EXPECT_EQ(it->status().value().allocated_bytes, 0u);
}

TEST_F(MemoryFiles, WhatIsNotKeptGoesWhileSomebodyWrites) {
  struct GivingMemory final : TransferMemory {
    explicit GivingMemory(FileDescription& reserved) : file(reserved) {}
    std::size_t copy_out(std::uint64_t, std::span<const std::byte>) override { return 0; }
    std::size_t copy_in(std::span<std::byte> to, std::uint64_t) override {
      EXPECT_TRUE(file.end_reserving(1000 * page_bytes));  // by another thread, as this one copies
      std::ranges::fill(to, std::byte('x'));
      return to.size();
    }
    FileDescription& file;
  };
  Reference<FileDescription> it = open();
  it->begin_reserving();
  EXPECT_TRUE(it->reserve(0, 20 * page_bytes, FileDescription::Reserved::part).ok());
  GivingMemory program(*it);
  const TransferPiece pieces[] = {{0, 3}};
  Transfer from(program, pieces);
  EXPECT_EQ(it->write_at(from, 5 * page_bytes).value(), 3u);
  EXPECT_EQ(it->status().value().allocated_bytes, page_bytes);
  EXPECT_EQ(read_at(*it, 5 * page_bytes, 10), "xxx");
}

TEST_F(MemoryFiles, WhoFailsToReserveTakesNothingFromOthers) {
  using Reserved = FileDescription::Reserved;
  Reference<FileDescription> it = open();
  it->begin_reserving();
  EXPECT_TRUE(it->reserve(0, 10 * page_bytes, Reserved::part).ok());
  it->begin_reserving();
  EXPECT_EQ(it->reserve(10 * page_bytes, 1000 * page_bytes, Reserved::part).error(), Errno::enospc);
  EXPECT_TRUE(it->end_reserving(1000 * page_bytes));
  EXPECT_TRUE(it->truncate(0).ok());
  EXPECT_GE(it->status().value().allocated_bytes, 10 * page_bytes);
  EXPECT_TRUE(it->reserve(10 * page_bytes, page_bytes, Reserved::keeps_size).ok());
  EXPECT_TRUE(it->end_reserving(1000 * page_bytes));  // the last one gives back what nobody keeps
  EXPECT_EQ(it->status().value().allocated_bytes, 11 * page_bytes);
}

TEST_F(MemoryFiles, AFaultInTheProgramEndsTheCall) {
  Reference<FileDescription> it = open();
  EXPECT_TRUE(write(*it, "hello").ok());
  HoledMemory program;
  program.end = 13;
  const TransferPiece pieces[] = {{10, 5}};
  Transfer partly(program, pieces);
  EXPECT_EQ(it->read_at(partly, 0).value(), 3u);
  const TransferPiece nowhere[] = {{5000, 5}};
  Transfer not_at_all(program, nowhere);
  EXPECT_EQ(it->read_at(not_at_all, 0).error(), Errno::efault);
  Transfer written(program, nowhere);
  EXPECT_EQ(it->write_at(written, 0).error(), Errno::efault);
  EXPECT_EQ(read_at(*it, 0, 10), "hello");
}

TEST_F(MemoryFiles, MappingsShowThePagesThemselves) {
  Reference<FileDescription> it = open();
  EXPECT_TRUE(write(*it, "hello").ok());
  FileMapping mapping = it->mapping(0, page_bytes, Access::read).value();
  const Backing page = mapping.object->fault(0, PageSize::small).value();
  char* seen = memory.window().at<char>(page.physical);
  EXPECT_EQ(std::string(seen, 5), "hello");
  seen[0] = 'H';
  EXPECT_EQ(read_at(*it, 0, 5), "Hello");
  EXPECT_FALSE(mapping.object->fault(page_bytes, PageSize::small).ok());
  EXPECT_FALSE(mapping.object->fault(0, PageSize::large).ok());
  EXPECT_TRUE(it->truncate(0).ok());
  EXPECT_EQ(seen[0], 'H');  // whoever maps the frame keeps it
  frames.release(FrameNumber::containing(page.physical), page_order);
  // The mapping alone keeps the file.
  it.reset();
  file.reset();
  EXPECT_FALSE(mapping.object->fault(0, PageSize::small).ok());
}

TEST_F(MemoryFiles, MappingsEndWhereTheLargestFileDoes) {
  Reference<FileDescription> it = open();
  EXPECT_TRUE(it->mapping(SparsePages::most_bytes - page_bytes, page_bytes, Access::read).ok());
  EXPECT_EQ(it->mapping(SparsePages::most_bytes, page_bytes, Access::read).error(), Errno::eoverflow);
  EXPECT_EQ(it->mapping(std::uint64_t{3} << 62, page_bytes, Access::read).error(), Errno::eoverflow);
}

TEST_F(MemoryFiles, MappingsChangeTheTimes) {
  Reference<FileDescription> it = open();
  const FileTimes before = it->status().value().times;
  clock.now += Nanoseconds(5);
  FileMapping mapping = it->mapping(0, page_bytes, Access::read).value();
  EXPECT_EQ(it->status().value().times.accessed, before.accessed + Nanoseconds(5));
  EXPECT_EQ(it->status().value().times.modified, before.modified);
  mapping.object->note_writing();
  EXPECT_EQ(it->status().value().times.modified, before.modified + Nanoseconds(5));
  EXPECT_EQ(it->status().value().times.changed, before.changed + Nanoseconds(5));
}

TEST(UsedUpPages, KnowNoneBeyondTheEnd) {
  TestHeap heap;
  heap.left = 1;
  UsedUpPages pages(heap);
  EXPECT_FALSE(pages.contains(0));
  ASSERT_TRUE(pages.prepare(65).ok());
  pages.add(64);
  EXPECT_TRUE(pages.contains(64));
  EXPECT_FALSE(pages.contains(63) || pages.contains(128) || pages.contains(std::uint64_t{1} << 40));
}

TEST_F(MemoryFiles, BehaveAsAModelDoes) {
  Reference<FileDescription> it = open();
  std::string model;
  RandomNumbers random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t offset = random.below(12 * page_bytes);
    if (random.below(10) == 0) {
      ASSERT_TRUE(it->truncate(offset).ok());
      model.resize(offset, '\0');
    } else if (random.below(2) == 0) {
      const std::string text(random.below(2 * page_bytes), static_cast<char>('a' + random.below(26)));
      ASSERT_EQ(write_at(*it, offset, text).value(), text.size());
      if (!text.empty() && model.size() < offset + text.size()) model.resize(offset + text.size(), '\0');
      model.replace(offset, text.size(), text, 0, text.empty() ? 0 : text.size());
    } else {
      const std::string expected = offset < model.size() ? model.substr(offset, 5000) : "";
      ASSERT_EQ(read_at(*it, offset, 5000), expected) << round;
    }
    ASSERT_EQ(it->status().value().bytes, model.size());
  }
}

}  // namespace
}  // namespace ingot::os
