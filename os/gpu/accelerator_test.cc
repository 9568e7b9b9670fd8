// The kernel's side of an accelerator, with a worker that does as it is told, is lost at every moment, or lies.
#include "os/gpu/accelerator.h"

#include <gtest/gtest.h>

#include <optional>

#include "os/gpu/fake_worker.h"
#include "os/memory/address_space_fixture.h"

namespace ingot::os {
namespace {

using accelerator::AnswerStatus;
using accelerator::NodeMap;
using accelerator::right_write;
using accelerator::WorkerState;
using address_space_fixture::read_write;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

class Accelerators : public address_space_fixture::AddressSpaces {
 protected:
  Accelerators() { machine.emplace(worker.words(), Accelerator::Memory{heap, flaky, memory.window()}, worker); }
  Accelerator& it() { return *machine; }
  // As this machine has it: usable, then what the image brought.
  std::vector<MemoryRange> ranges() {
    return {{PhysicalAddress(0), image_begin, MemoryKind::usable},
            {PhysicalAddress(image_begin), image_bytes, MemoryKind::image},
            {PhysicalAddress(image_begin + image_bytes), memory_bytes - image_begin - image_bytes, MemoryKind::usable}};
  }
  void start() {
    ASSERT_TRUE(it().start(ranges()).ok());
    ASSERT_TRUE(it().open().ok());
  }
  Answer<void> show(VirtualAddress begin, std::uint64_t bytes, std::uint32_t flags = right_write,
                    std::uint64_t limit = no_limit) {
    return it().show(*space, NodeMap{begin.value(), bytes, flags, 0}, limit);
  }
  VirtualAddress anonymous_pages(std::uint64_t pages) {
    return space->add(anonymous_request(pages * page_bytes)).value();
  }
  const FrameInfo& info_behind(VirtualAddress address) {
    return frames.table().info(FrameNumber::containing(space->table().find(address)->physical));
  }

  FakeWorker worker{memory.window()};
  std::optional<Accelerator> machine;
  Owned<AddressSpace> space = make_space();
};

TEST_F(Accelerators, LearnTheMachinesMemoryInStretchesWhoeverUsesIt) {
  const std::vector<MemoryRange> with_holes = {{PhysicalAddress(0), 0x9fc00, MemoryKind::usable},  // ends inside a page
                                               {PhysicalAddress(0x9fc00), 0x60400, MemoryKind::reserved},
                                               {PhysicalAddress(mib), 47 * mib, MemoryKind::usable},
                                               {PhysicalAddress(image_begin), image_bytes, MemoryKind::image},
                                               {PhysicalAddress(image_begin + image_bytes), mib, MemoryKind::usable},
                                               {PhysicalAddress(60 * mib), 4 * mib, MemoryKind::bad}};
  const std::uint64_t free = frames.statistics().free;
  ASSERT_TRUE(it().start(with_holes).ok());
  EXPECT_TRUE(worker.has_adopted);
  ASSERT_EQ(worker.located.size(), 2u);
  EXPECT_EQ(worker.located[0], std::pair(std::uint64_t{0}, std::uint64_t{0x9f000}));
  EXPECT_EQ(worker.located[1], std::pair(std::uint64_t{mib}, 56 * mib));
  EXPECT_EQ(frames.statistics().free, free);
  EXPECT_EQ(it().located_bytes(), 0x9f000 + 56 * mib);
}

TEST_F(Accelerators, StretchesWithoutAFreeFrameStayOut) {
  const std::vector<MemoryRange> elsewhere = {{PhysicalAddress(memory_bytes), 4 * mib, MemoryKind::usable}};
  const Result<void> started = it().start(elsewhere);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), ErrorCode::not_found);
  EXPECT_TRUE(worker.located.empty());
}

TEST_F(Accelerators, StretchesBeyondThoseThatAWorkerKnowsStayOut) {
  std::vector<MemoryRange> many;
  for (std::uint64_t i = 0; i < accelerator::most_located + 4; ++i) {
    many.push_back({PhysicalAddress(2 * i * 256 * 1024), 256 * 1024, MemoryKind::usable});
  }
  const std::uint64_t free = frames.statistics().free;
  ASSERT_TRUE(it().start(many).ok());
  EXPECT_GT(worker.located.size(), 8u);
  EXPECT_LE(worker.located.size(), accelerator::most_located);
  EXPECT_EQ(frames.statistics().free, free);
}

TEST_F(Accelerators, OfAnotherVersionAreRefusedUnasked) {
  worker.words().identity().version = accelerator::protocol_version + 1;
  EXPECT_EQ(it().start(ranges()).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(worker.rings, 0);
}

TEST_F(Accelerators, SeeAProgramsPagesUntilTheyAreHidden) {
  start();
  const VirtualAddress begin = anonymous_pages(8);
  *touch(*space, begin + 3 * page_bytes, Access::write) = 7;
  ASSERT_TRUE(show(begin, 8 * page_bytes).ok());
  const FakeWorker::Range& range = worker.ranges.at(begin.value());
  EXPECT_TRUE(range.writable);
  std::uint64_t sum = 0;
  for (const accelerator::MemoryPiece& piece : range.pieces) sum += piece.bytes;
  EXPECT_EQ(sum, 8 * page_bytes);
  EXPECT_EQ(it().pinned_bytes(), 8 * page_bytes);
  // What the program lets go, the worker still has.
  const FrameInfo& info = info_behind(begin);
  ASSERT_TRUE(space->remove(begin, 8 * page_bytes).ok());
  EXPECT_TRUE(info.allocated());
  ASSERT_TRUE(it().hide(begin.value()).ok());
  EXPECT_FALSE(info.allocated());
  EXPECT_EQ(it().pinned_bytes(), 0u);
  EXPECT_EQ(it().hide(begin.value()).error(), Errno::einval);
  it().close();
}

TEST_F(Accelerators, SeeTheImageInPlaceToBeRead) {
  start();
  RegionRequest request;
  request.object = &image;
  request.bytes = 4 * page_bytes;
  const VirtualAddress begin = space->add(request).value();
  EXPECT_EQ(show(begin, 4 * page_bytes).error(), Errno::efault);  // nobody may write there
  ASSERT_TRUE(show(begin, 4 * page_bytes, 0, 0).ok());            // and it is nobody's own
  const FakeWorker::Range& range = worker.ranges.at(begin.value());
  EXPECT_FALSE(range.writable);
  ASSERT_EQ(range.pieces.size(), 1u);
  EXPECT_EQ(range.pieces[0].physical, image_begin);
  it().close();
  EXPECT_TRUE(worker.ranges.empty());
}

TEST_F(Accelerators, RefuseWhatCannotBeShown) {
  start();
  const VirtualAddress begin = anonymous_pages(8);
  const std::uint64_t end = user_memory_end.value();
  const NodeMap impossible[] = {
      {begin.value() + 8, page_bytes, 0, 0},
      {begin.value(), 100, 0, 0},
      {begin.value(), 0, 0, 0},
      {begin.value(), page_bytes, 2, 0},
      {begin.value(), page_bytes, 0, 1},
      {end, page_bytes, 0, 0},
      {end - page_bytes, 2 * page_bytes, 0, 0},
      {begin.value(), 0 - page_bytes, 0, 0},
      {0 - page_bytes, page_bytes, 0, 0},
  };
  for (const NodeMap& wanted : impossible) EXPECT_EQ(it().show(*space, wanted, no_limit).error(), Errno::einval);
  EXPECT_EQ(show(begin, 9 * page_bytes).error(), Errno::efault);  // one page more than there is
  EXPECT_EQ(show(begin - page_bytes, page_bytes).error(), Errno::efault);
  EXPECT_EQ(show(begin, 8 * page_bytes, 0, 8 * page_bytes - 1).error(), Errno::enomem);
  ASSERT_TRUE(show(begin + page_bytes, 2 * page_bytes, 0, 3 * page_bytes).ok());
  for (const int page : {0, 1, 2}) EXPECT_EQ(show(begin + page * page_bytes, 2 * page_bytes).error(), Errno::einval);
  EXPECT_EQ(show(begin + 3 * page_bytes, 2 * page_bytes, 0, 3 * page_bytes).error(), Errno::enomem);  // two and two
  // A device's memory is not the machine's.
  PhysicalMemory device("device", PhysicalAddress(memory_bytes), mib, CacheMode::write_back);
  RegionRequest request;
  request.object = &device;
  request.bytes = page_bytes;
  request.sharing = Sharing::shared;
  request.access = read_write;
  const VirtualAddress shown = space->add(request).value();
  EXPECT_EQ(show(shown, page_bytes).error(), Errno::efault);
  space->remove(shown, page_bytes).value();
  EXPECT_EQ(worker.ranges.size(), 1u);
  it().close();
  EXPECT_EQ(it().pinned_bytes(), 0u);
}

TEST_F(Accelerators, KeepNothingWhereMemoryRunsOut) {
  start();
  const VirtualAddress begin = anonymous_pages(64);
  flaky.one_in = 4;
  for (int round = 0; round < 300; ++round) {
    if (show(begin, 64 * page_bytes).ok()) it().hide(begin.value()).value();
    static_cast<void>(space->discard(begin, 64 * page_bytes));
    EXPECT_EQ(it().pinned_bytes(), 0u);
  }
  flaky.one_in = 0;
  it().close();
}

TEST_F(Accelerators, ARefusalIsToldAndNothingStaysPinned) {
  start();
  const VirtualAddress begin = anonymous_pages(2);
  worker.status = AnswerStatus::failed;
  // A worker that tells of a lost one lives.
  for (const ErrorCode told : {ErrorCode::out_of_memory, ErrorCode::invalid_argument, ErrorCode::input_output}) {
    worker.code = static_cast<std::uint32_t>(told);
    EXPECT_EQ(show(begin, 2 * page_bytes).error(), told == ErrorCode::out_of_memory ? Errno::enomem : Errno::einval);
  }
  worker.code = 99;
  EXPECT_EQ(show(begin, 2 * page_bytes).error(), Errno::einval);
  EXPECT_FALSE(it().is_lost());
  EXPECT_EQ(info_behind(begin).pins(), 0u);
  worker.status = AnswerStatus::done;
  EXPECT_TRUE(show(begin, 2 * page_bytes).ok());
  it().close();
}

TEST_F(Accelerators, WordsOfARefusalAreMadeHarmless) {
  worker.status = AnswerStatus::failed;
  worker.text = "no\x1b[2J\n memory";
  EXPECT_EQ(it().start(ranges()).error().text(), "the accelerator: no?[2J? memory");
  worker.text = std::string(10'000, 'a');  // says that it is longer than it can be
  const Result<void> started = it().start(ranges());
  EXPECT_LE(started.error().text().size(), 17u + accelerator::MemoryAnswer::text_capacity);
}

TEST_F(Accelerators, HaveOneOpenerAtATime) {
  start();
  EXPECT_EQ(it().open().error(), Errno::ebusy);
  it().close();
  ASSERT_TRUE(it().open().ok());
  it().close();
  worker.end(WorkerState::ended);
  EXPECT_EQ(it().open().error(), Errno::enxio);
}

// The worker ends, and its broker says so: all is given back.
TEST_F(Accelerators, ThatAreGoneKeepNoFrame) {
  for (const bool while_asked : {false, true}) {
    FakeWorker other(memory.window());
    Accelerator accelerator(other.words(), {heap, flaky, memory.window()}, other);
    ASSERT_TRUE(accelerator.start(ranges()).ok());
    ASSERT_TRUE(accelerator.open().ok());
    const VirtualAddress begin = anonymous_pages(2);
    ASSERT_TRUE(accelerator.show(*space, {begin.value(), 2 * page_bytes, right_write, 0}, no_limit).ok());
    other.is_silent = true;
    const auto die = [&] {
      other.end(WorkerState::faulted);
      other.on_wait = [&] { other.reap(); };
    };
    if (while_asked) {
      other.on_wait = die;
    } else {
      die();
    }
    const Nanoseconds before = other.time;
    EXPECT_EQ(accelerator.hide(begin.value()).error(), Errno::eio);
    EXPECT_EQ(accelerator.show(*space, {begin.value(), page_bytes, 0, 0}, no_limit).error(), Errno::eio);
    accelerator.close();
    EXPECT_EQ(other.retired, 0u);
    EXPECT_LT(other.time - before, Nanoseconds(1'000'000'000));
    EXPECT_EQ(info_behind(begin).pins(), 0u);
    EXPECT_EQ(accelerator.open().error(), Errno::enxio);
    ASSERT_TRUE(space->remove(begin, 2 * page_bytes).ok());
  }
}

// Nobody says that it is gone: what it could write to is nobody's any more, and of each frame that is counted once.
TEST_F(Accelerators, ThatStandStillKeepWhatTheyMayWriteTo) {
  start();
  const VirtualAddress written = anonymous_pages(4), read = anonymous_pages(2);
  ASSERT_TRUE(show(written, 2 * page_bytes).ok());
  ASSERT_TRUE(show(written + 2 * page_bytes, 2 * page_bytes, 0).ok());
  ASSERT_TRUE(show(read, 2 * page_bytes, 0).ok());
  std::vector<FrameNumber> kept;
  for (int page = 0; page < 2; ++page) {
    kept.push_back(FrameNumber::containing(space->table().find(written + page * page_bytes)->physical));
  }
  worker.is_silent = worker.is_stopped = true;
  const Nanoseconds before = worker.time;
  it().close();
  // Two seconds until it is lost, two until nobody has said that it is gone.
  EXPECT_LT(worker.time - before, Nanoseconds(5'000'000'000));
  EXPECT_GT(worker.time - before, Nanoseconds(3'600'000'000));
  ASSERT_TRUE(space->remove(written, 4 * page_bytes).ok());
  ASSERT_TRUE(space->remove(read, 2 * page_bytes).ok());
  EXPECT_EQ(worker.retired, 2u);
  for (const FrameNumber frame : kept) {
    EXPECT_EQ(frames.table().info(frame).pins(), 1u);
    frames.unpin(frame);  // for the fixture, which counts
  }
  EXPECT_EQ(it().open().error(), Errno::enxio);
}

TEST_F(Accelerators, AFrameOfWhichSeveralPartsAreShownIsKeptAsAWhole) {
  start();
  const VirtualAddress begin = space->add(anonymous_request(large_page_bytes)).value();
  *touch(*space, begin, Access::write) = 1;
  ASSERT_EQ(space->table().find(begin)->size, PageSize::large);
  const FrameNumber head = FrameNumber::containing(space->table().find(begin)->physical);
  ASSERT_TRUE(show(begin, page_bytes, 0).ok());
  ASSERT_TRUE(show(begin + page_bytes, page_bytes).ok());
  ASSERT_TRUE(show(begin + 2 * page_bytes, page_bytes).ok());
  EXPECT_EQ(frames.table().info(head).pins(), 3u);
  worker.is_silent = worker.is_stopped = true;
  it().close();
  EXPECT_EQ(frames.table().info(head).pins(), 1u);
  EXPECT_EQ(worker.retired, frames_per_large_page);
  frames.unpin(head);
}

// A page of it keeps all of it in place, also where the program lets go of the rest: it counts as a whole, and once.
TEST_F(Accelerators, AFrameOfWhichAPartIsShownCountsAsAWhole) {
  start();
  const VirtualAddress begin = space->add(anonymous_request(large_page_bytes)).value();
  *touch(*space, begin, Access::write) = 1;
  ASSERT_EQ(space->table().find(begin)->size, PageSize::large);
  EXPECT_EQ(show(begin, page_bytes, 0, large_page_bytes - 1).error(), Errno::enomem);
  ASSERT_TRUE(show(begin, page_bytes, 0, large_page_bytes).ok());
  EXPECT_EQ(it().pinned_bytes(), large_page_bytes);
  ASSERT_TRUE(it().hide(begin.value()).ok());
  EXPECT_EQ(it().pinned_bytes(), 0u);
  // Also where small pages show it now.
  ASSERT_TRUE(space->remove(begin, page_bytes).ok());
  ASSERT_NE(space->table().find(begin + page_bytes)->size, PageSize::large);
  ASSERT_TRUE(show(begin + page_bytes, large_page_bytes - page_bytes, 0, large_page_bytes).ok());
  EXPECT_EQ(it().pinned_bytes(), large_page_bytes);
  it().close();
}

// It is asked to map, and never says whether it did: the table that it may still read is kept, too.
TEST_F(Accelerators, ThatAreLostWhileTheyMapKeepTheTable) {
  start();
  const VirtualAddress begin = anonymous_pages(1);
  const std::uint64_t free = frames.statistics().free;
  worker.is_silent = worker.is_stopped = true;
  EXPECT_EQ(show(begin, page_bytes).error(), Errno::eio);
  EXPECT_EQ(worker.retired, 2u);  // it, and the page
  EXPECT_EQ(info_behind(begin).pins(), 1u);
  EXPECT_LT(frames.statistics().free, free);
  const FrameNumber page = FrameNumber::containing(space->table().find(begin)->physical);
  it().close();
  space.reset();
  frames.unpin(page);
  // The table's frame, which nobody names any more.
  heap.trim();
  free_at_start -= 1;
}

// It lives, and never answers.
TEST_F(Accelerators, ThatOnlyBeatAreLostInTheEnd) {
  worker.is_silent = true;
  const Nanoseconds before = worker.time;
  const Result<void> started = it().start(ranges());
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), ErrorCode::input_output);
  EXPECT_LE(worker.time - before, MemoryOwner::longest_wait + WorkerWatch::look_again + WorkerWatch::look_again);
  EXPECT_TRUE(it().is_lost());
}

TEST_F(Accelerators, ThatLieAreLostAtOnce) {
  for (int lie = 0; lie < 4; ++lie) {
    FakeWorker liar(memory.window());
    Accelerator accelerator(liar.words(), {heap, flaky, memory.window()}, liar);
    if (lie == 0) liar.tag_error = 1;
    if (lie == 1) liar.index_error = accelerator::memory_answer_count;
    if (lie == 2) liar.index_error = 0 - std::uint64_t{1000};
    if (lie == 3) liar.words().memory().memory_read.store(5, MemoryOrder::relaxed);  // read what nobody wrote
    if (lie == 3) liar.is_silent = liar.is_stopped = true;
    EXPECT_EQ(accelerator.start(ranges()).error().code(), ErrorCode::input_output) << lie;
    EXPECT_TRUE(accelerator.is_lost());
    EXPECT_EQ(accelerator.open().error(), Errno::enxio);
  }
}

// Answers that came before the end count.
TEST_F(Accelerators, AnswersOfAWorkerThatEndedAreHeard) {
  start();
  const VirtualAddress begin = anonymous_pages(1);
  worker.is_silent = true;
  worker.on_wait = [&] {
    worker.is_silent = false;
    worker.ring();
    worker.end(WorkerState::ended);
    worker.reap();
  };
  EXPECT_TRUE(show(begin, page_bytes).ok());
  EXPECT_EQ(it().hide(begin.value()).error(), Errno::eio);
  it().close();
  EXPECT_EQ(info_behind(begin).pins(), 0u);
}

TEST_F(Accelerators, HeartsAreHeardByWhoWaits) {
  start();
  worker.time = worker.time + Nanoseconds(3600'000'000'000);  // nobody listened for an hour
  it().look();
  EXPECT_FALSE(it().is_lost());
  for (int second = 0; second < 10; ++second) {
    worker.words().memory().heartbeat.fetch_add(1, MemoryOrder::relaxed);
    worker.time = worker.time + Nanoseconds(1'000'000'000);
    it().look();
  }
  EXPECT_FALSE(it().is_lost());
  int looks = 0;
  while (!it().is_lost() && looks < 100) {
    worker.time = worker.time + WorkerWatch::look_again;
    it().look();
    ++looks;
  }
  EXPECT_EQ(looks, 19);  // of a tenth of a second
  worker.reap();
  it().close();
}

}  // namespace
}  // namespace ingot::os
