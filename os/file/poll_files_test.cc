// Pipes, eventfds, timerfds and epolls: what can be waited for.
#include "os/file/channels/epoll_fixture.h"
#include "os/file/channels/event_file.h"
#include "os/file/channels/pipe.h"
#include "os/file/channels/timer_file.h"
#include "os/file/descriptor_table.h"
#include "os/file/memory_file.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using namespace poll_event;

class PollFiles : public EpollFiles {
 protected:
  static Answer<std::size_t> write_number(FileDescription& file, std::uint64_t number) {
    KernelTransfer transfer(std::as_bytes(std::span(&number, 1)));
    return file.write(transfer);
  }
  static Answer<std::string> read_some(FileDescription& file, std::size_t most) {
    std::string text(most, '?');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const Answer<std::size_t> moved = file.read(transfer);
    if (!moved.ok()) return moved.error();
    text.resize(moved.value());
    return text;
  }
};

TEST_F(PollFiles, APipeGivesBackInOrder) {
  PipeEnds ends = make_pipe(services, 0).value();
  EXPECT_EQ(read_some(*ends.reading, 5).error(), Errno::eagain);
  EXPECT_EQ(ends.reading->poll(), 0u);
  EXPECT_EQ(ends.writing->poll(), writable);
  EXPECT_EQ(write(*ends.writing, "hello").value(), 5u);
  EXPECT_EQ(ends.reading->poll(), readable);
  EXPECT_EQ(read_some(*ends.reading, 2).value(), "he");
  EXPECT_EQ(write(*ends.writing, "!").value(), 1u);
  EXPECT_EQ(read_some(*ends.reading, 100).value(), "llo!");
  EXPECT_EQ(read_some(*ends.writing, 1).error(), Errno::ebadf);
  EXPECT_EQ(write(*ends.reading, "x").error(), Errno::ebadf);
  EXPECT_EQ(ends.reading->seek(0, Whence::begin).error(), Errno::espipe);
}

TEST_F(PollFiles, AFullPipeTakesSmallWritesWholeOrNotAtAll) {
  PipeEnds ends = make_pipe(services, 0).value();
  EXPECT_EQ(write(*ends.writing, std::string(pipe_bytes - 100, 'x')).value(), pipe_bytes - 100);
  EXPECT_EQ(ends.writing->poll(), 0u);
  EXPECT_EQ(write(*ends.writing, std::string(101, 'y')).error(), Errno::eagain);
  EXPECT_EQ(write(*ends.writing, std::string(5000, 'y')).value(), 100u);
  EXPECT_EQ(write(*ends.writing, "z").error(), Errno::eagain);
  EXPECT_EQ(read_some(*ends.reading, pipe_bytes + 5).value().size(), pipe_bytes);
  EXPECT_EQ(ends.reading->poll(), 0u);
}

TEST_F(PollFiles, EachEndLearnsThatTheOtherWent) {
  PipeEnds ends = make_pipe(services, 0).value();
  CountingWaiter waiter;
  ends.reading->poll_source()->join(waiter);
  EXPECT_TRUE(write(*ends.writing, "last").ok());
  ends.writing.reset();
  EXPECT_EQ(waiter.count, 2);
  EXPECT_EQ(ends.reading->poll(), readable | hang_up);
  EXPECT_EQ(read_some(*ends.reading, 10).value(), "last");
  EXPECT_EQ(read_some(*ends.reading, 10).value(), "");
  EXPECT_EQ(ends.reading->poll(), hang_up);
  ends.reading->poll_source()->leave(waiter);

  PipeEnds other = make_pipe(services, 0).value();
  other.reading.reset();
  EXPECT_EQ(other.writing->poll(), writable | error);
  EXPECT_EQ(write(*other.writing, "x").error(), Errno::epipe);
}

TEST_F(PollFiles, APipeThatCannotBeMadeLeavesNothing) {
  for (int left = 0; left < 4; ++left) {
    heap.left = left;
    EXPECT_EQ(make_pipe(services, 0).error(), Errno::enomem) << left;
  }
}

TEST_F(PollFiles, AnEventCountsUpAndIsTakenAtOnce) {
  Reference<FileDescription> event = make_event_file(heap, 2, EventReads::all, 0).value();
  EXPECT_EQ(event->poll(), readable | writable);
  EXPECT_EQ(write_number(*event, 5).value(), 8u);
  EXPECT_EQ(read_number(*event).value(), 7u);
  EXPECT_EQ(read_number(*event).error(), Errno::eagain);
  EXPECT_EQ(event->poll(), writable);
  EXPECT_EQ(write_number(*event, ~std::uint64_t{0}).error(), Errno::einval);
  EXPECT_EQ(write_number(*event, ~std::uint64_t{0} - 1).value(), 8u);
  EXPECT_EQ(event->poll(), readable);
  EXPECT_EQ(write_number(*event, 1).error(), Errno::eagain);
  EXPECT_EQ(read_some(*event, 7).error(), Errno::einval);
  EXPECT_EQ(write(*event, "short").error(), Errno::einval);
}

TEST_F(PollFiles, AnEventTakesOneNumberFromAWriteOfSeveral) {
  Reference<FileDescription> event = make_event_file(heap, 0, EventReads::all, 0).value();
  const std::uint64_t numbers[] = {3, 4};
  KernelTransfer transfer(std::as_bytes(std::span(numbers)));
  EXPECT_EQ(event->write(transfer).value(), 8u);
  EXPECT_EQ(static_cast<Transfer&>(transfer).left(), 0u);
  EXPECT_EQ(read_number(*event).value(), 3u);
}

TEST_F(PollFiles, ASemaphoreEventIsTakenOneByOne) {
  Reference<FileDescription> event = make_event_file(heap, 2, EventReads::one, 0).value();
  EXPECT_EQ(read_number(*event).value(), 1u);
  EXPECT_EQ(read_number(*event).value(), 1u);
  EXPECT_EQ(read_number(*event).error(), Errno::eagain);
}

TEST_F(PollFiles, ATimerComesOnceOrAgainAndAgain) {
  Reference<FileDescription> file = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  TimerFile& timer = *file->as_timer();
  EXPECT_EQ(read_number(timer).error(), Errno::eagain);
  EXPECT_FALSE(timer.ready_at());
  timer.set({Nanoseconds(100), Nanoseconds(0)}, TimerFile::Start::relative);
  EXPECT_EQ(timer.ready_at(), clock.now + Nanoseconds(100));
  EXPECT_EQ(timer.get().next, Nanoseconds(100));
  clock.now += Nanoseconds(250);
  EXPECT_EQ(timer.poll(), readable);
  EXPECT_EQ(read_number(timer).value(), 1u);
  EXPECT_EQ(read_number(timer).error(), Errno::eagain);
  EXPECT_FALSE(timer.ready_at());

  timer.set({clock.now + Nanoseconds(10), Nanoseconds(20)}, TimerFile::Start::absolute);
  clock.now += Nanoseconds(10 + 20 + 5);
  EXPECT_EQ(timer.get().next, Nanoseconds(15));
  EXPECT_EQ(read_number(timer).value(), 2u);
  EXPECT_EQ(timer.ready_at(), clock.now + Nanoseconds(15));
  const TimerSetting before = timer.set({}, TimerFile::Start::relative);
  EXPECT_EQ(before.interval, Nanoseconds(20));
  EXPECT_EQ(timer.poll(), 0u);
}

TEST_F(PollFiles, ATimerOfTheWallClockIsReadyAtAMonotonicTime) {
  Reference<FileDescription> file = TimerFile::create(heap, clock, TimerClock::realtime, 0).value();
  file->as_timer()->set({clock.realtime() + Nanoseconds(7), Nanoseconds(0)}, TimerFile::Start::absolute);
  EXPECT_EQ(file->ready_at(), clock.now + Nanoseconds(7));
}

TEST_F(PollFiles, ATimerBeyondTheEndOfTheClockNeverComes) {
  constexpr Nanoseconds longest(INT64_MAX - 1);
  for (const TimerClock by : {TimerClock::monotonic, TimerClock::realtime}) {
    Reference<FileDescription> file = TimerFile::create(heap, clock, by, 0).value();
    file->as_timer()->set({longest, Nanoseconds(0)}, TimerFile::Start::relative);
    EXPECT_EQ(file->poll(), 0u);
    EXPECT_GT(file->as_timer()->get().next, Nanoseconds(0));
    file->as_timer()->set({Nanoseconds(1), longest}, TimerFile::Start::relative);
    clock.now += Nanoseconds(1);
    EXPECT_EQ(read_number(*file).value(), 1u);  // the next time lies beyond the end
    EXPECT_EQ(file->poll(), 0u);
  }
}

TEST_F(PollFiles, EventsTimersAndEpollsHaveNoKindAndAreTheirOwnersAlone) {
  const Reference<FileDescription> event = make_event_file(heap, 0, EventReads::all, 0).value();
  const Reference<FileDescription> timer = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  const Reference<EpollFile> epoll = make_epoll();
  for (FileDescription* file : {event.get(), timer.get(), static_cast<FileDescription*>(epoll.get())}) {
    EXPECT_EQ(file->status().value().mode(), 0600u);
  }
}

TEST_F(PollFiles, AnEpollTellsWhileSomethingHolds) {
  Reference<EpollFile> epoll = make_epoll();
  PipeEnds ends = make_pipe(services, 0).value();
  ASSERT_TRUE(watch(*epoll, ends.reading, 3, {readable, 33}).ok());
  ASSERT_TRUE(watch(*epoll, ends.writing, 4, {writable, 44}).ok());
  EXPECT_EQ(collect(*epoll), (Told{{44, writable}}));
  EXPECT_EQ(collect(*epoll), (Told{{44, writable}}));
  EXPECT_TRUE(write(*ends.writing, "x").ok());
  EXPECT_EQ(collect(*epoll).size(), 2u);
  EXPECT_EQ(collect(*epoll, 1).size(), 1u);
  EXPECT_EQ(epoll->poll(), readable);
  ASSERT_TRUE(epoll->remove(*ends.writing, 4).ok());
  EXPECT_EQ(collect(*epoll), (Told{{33, readable}}));
  EXPECT_EQ(read_some(*ends.reading, 1).value(), "x");
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(epoll->poll(), 0u);
}

TEST_F(PollFiles, AnEdgeIsToldOnceAndOneShotUntilItIsSetAgain) {
  Reference<EpollFile> epoll = make_epoll();
  PipeEnds ends = make_pipe(services, 0).value();
  ASSERT_TRUE(watch(*epoll, ends.reading, 3, {readable | epoll_flag::edge, 1}).ok());
  EXPECT_TRUE(write(*ends.writing, "x").ok());
  EXPECT_EQ(collect(*epoll), (Told{{1, readable}}));
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_TRUE(write(*ends.writing, "y").ok());
  EXPECT_EQ(collect(*epoll), (Told{{1, readable}}));

  ASSERT_TRUE(epoll->change(*ends.reading, 3, {readable | epoll_flag::one_shot, 2}).ok());
  EXPECT_EQ(collect(*epoll), (Told{{2, readable}}));
  EXPECT_TRUE(write(*ends.writing, "z").ok());
  EXPECT_TRUE(collect(*epoll).empty());
  ASSERT_TRUE(epoll->change(*ends.reading, 3, {readable | epoll_flag::one_shot, 3}).ok());
  EXPECT_EQ(collect(*epoll), (Told{{3, readable}}));
}

TEST_F(PollFiles, AnEpollRefusesWhatMakesNoSense) {
  Reference<EpollFile> epoll = make_epoll();
  Reference<FileDescription> event = make_event_file(heap, 0, EventReads::all, 0).value();
  ASSERT_TRUE(watch(*epoll, event, 3, {readable, 1}).ok());
  EXPECT_EQ(watch(*epoll, event, 3, {readable, 1}).error(), Errno::eexist);
  EXPECT_TRUE(watch(*epoll, event, 5, {readable, 2}).ok());
  EXPECT_EQ(epoll->remove(*event, 4).error(), Errno::enoent);
  EXPECT_EQ(epoll->change(*event, 4, {}).error(), Errno::enoent);
  EXPECT_EQ(watch(*epoll, epoll, 6, {readable, 1}).error(), Errno::einval);
  Reference<Node> file = make_memory_file(make_volume(Volume::Writing::allowed), 0644).value();
  EXPECT_EQ(watch(*epoll, file->open(0).value(), 7, {readable, 1}).error(), Errno::eperm);
}

TEST_F(PollFiles, AClosedFileIsNotWatchedAnyMore) {
  Reference<EpollFile> epoll = make_epoll();
  DescriptorTable table(heap);
  PipeEnds ends = make_pipe(services, 0).value();
  const std::int32_t reading = table.add(ends.reading, OnExecute::keeps).value();
  const std::int32_t writing = table.add(ends.writing, OnExecute::keeps).value();
  ASSERT_TRUE(epoll->add(ends.writing, writing, {writable, 1}).ok());
  ASSERT_TRUE(epoll->add(ends.writing, writing + 7, {writable, 2}).ok());
  ends.writing.reset();
  EXPECT_EQ(collect(*epoll).size(), 2u);
  EXPECT_TRUE(table.close(writing).ok());
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(ends.reading->poll(), hang_up);  // the epoll did not keep the other end
  ASSERT_TRUE(epoll->add(ends.reading, reading, {readable, 1}).ok());
  epoll.reset();
  EXPECT_TRUE(table.close(reading).ok());
}

TEST_F(PollFiles, AFileThatWasClosedWhileItWasAddedIsNotKept) {
  Reference<EpollFile> epoll = make_epoll();
  DescriptorTable table(heap);
  PipeEnds ends = make_pipe(services, 0).value();
  const std::int32_t writing = table.add(ends.writing, OnExecute::keeps).value();
  EXPECT_TRUE(table.close(writing).ok());  // by another thread, after epoll_ctl had found the file
  EXPECT_TRUE(epoll->add(ends.writing, writing, {writable, 1}).ok());
  ends.writing.reset();  // the call is over
  EXPECT_EQ(ends.reading->poll(), hang_up);
  EXPECT_TRUE(collect(*epoll).empty());
}

TEST_F(PollFiles, WhatTheProgramCouldNotTakeIsToldAgain) {
  Reference<EpollFile> epoll = make_epoll();
  Reference<FileDescription> event = make_event_file(heap, 1, EventReads::all, 0).value();
  ASSERT_TRUE(watch(*epoll, event, 3, {readable | epoll_flag::edge, 1}).ok());
  RememberingSink full;
  full.full = true;
  EXPECT_EQ(epoll->collect(full, 5).error(), Errno::efault);
  EXPECT_EQ(collect(*epoll).size(), 1u);
}

}  // namespace
}  // namespace ingot::os
