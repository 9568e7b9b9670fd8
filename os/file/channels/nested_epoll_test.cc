// Epolls in epolls: what reaches the outer one, what is refused, and that locks are taken from holders to held.
#include "os/file/channels/epoll_fixture.h"
#include "os/file/channels/event_file.h"
#include "os/file/channels/timer_file.h"
#include "os/file/descriptor_table.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using poll_event::readable;

struct LastData final : EpollSink {
  Answer<void> add(std::uint32_t, std::uint64_t told) override {
    data = told;
    return {};
  }
  std::uint64_t data = 0;
};

class NestedEpolls : public Files, private ScheduleMachine, private LockViolationHandler {
 protected:
  NestedEpolls() {
    processor.scheduler = &scheduler;
    processor.lock_checker = &of_cpu;
    processor.idle.lock_checker = &of_thread;
  }

  Reference<EpollFile> make_epoll() {
    Reference<EpollFile> made = make_reference<EpollFile>(heap, heap, clock, 0u).value();
    made->add_descriptor();
    return made;
  }
  Reference<FileDescription> make_event() {
    Reference<FileDescription> made = make_event_file(heap, 0, EventReads::all, 0).value();
    made->add_descriptor();
    return made;
  }
  Reference<FileDescription> make_timer(Nanoseconds after) {
    Reference<FileDescription> made = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
    made->add_descriptor();
    made->as_timer()->set({after, Nanoseconds(0)}, TimerFile::Start::relative);
    return made;
  }
  static void count_up(FileDescription& event) {
    const std::uint64_t one = 1;
    KernelTransfer transfer(std::as_bytes(std::span(&one, 1)));
    EXPECT_TRUE(event.write(transfer).ok());
  }
  static void take(FileDescription& file) {
    std::uint64_t number = 0;
    KernelTransfer transfer(std::as_writable_bytes(std::span(&number, 1)));
    EXPECT_TRUE(file.read(transfer).ok());
  }
  // What is told of the file that has something to say; 0: nothing.
  static std::uint64_t collect(EpollFile& epoll) {
    LastData sink;
    EXPECT_LE(epoll.collect(sink, 100).value(), 1u);
    return sink.data;
  }

 private:
  void switch_context(Thread&, Thread&) override { ADD_FAILURE() << "one thread waited"; }
  void notify(std::uint32_t) override {}
  void wait_for_interrupt() override {}
  void lock_violated(const LockViolation& violation) override {
    ADD_FAILURE() << violation.what << ": " << name_of(violation.rank) << ", " << name_of(violation.held_rank);
  }

  Scheduler scheduler{*this};
  LockChecker of_cpu{*this}, of_thread{*this};
};

TEST_F(NestedEpolls, TellWhileAFileOfTheInnerOneHasSomethingToSay) {
  const Reference<EpollFile> outer = make_epoll(), inner = make_epoll();
  const Reference<FileDescription> event = make_event();
  ASSERT_TRUE(outer->add(inner, 3, {readable, 33}).ok());
  ASSERT_TRUE(inner->add(event, 4, {readable, 44}).ok());
  EXPECT_EQ(collect(*outer), 0u);
  count_up(*event);
  EXPECT_EQ(outer->poll(), readable);
  EXPECT_EQ(collect(*outer), 33u);
  EXPECT_EQ(collect(*outer), 33u);
  EXPECT_EQ(collect(*inner), 44u);
  take(*event);
  EXPECT_EQ(outer->poll(), 0u);
  EXPECT_EQ(collect(*outer), 0u);
  count_up(*event);
  ASSERT_TRUE(inner->remove(*event, 4).ok());
  EXPECT_EQ(collect(*outer), 0u);
}

TEST_F(NestedEpolls, TellAnEdgeOnceAndWakeWhoWaitsForTheOuterOne) {
  CountingWaiter waiter;
  const Reference<EpollFile> outer = make_epoll(), inner = make_epoll();
  const Reference<FileDescription> event = make_event();
  ASSERT_TRUE(inner->add(event, 4, {readable, 44}).ok());
  ASSERT_TRUE(outer->add(inner, 3, {readable | epoll_flag::edge, 33}).ok());
  outer->poll_source()->join(waiter);
  count_up(*event);
  EXPECT_EQ(waiter.count, 1);
  EXPECT_EQ(collect(*outer), 33u);
  EXPECT_EQ(collect(*outer), 0u);
  count_up(*event);
  EXPECT_EQ(waiter.count, 2);
  EXPECT_EQ(collect(*outer), 33u);
  outer->poll_source()->leave(waiter);
}

TEST_F(NestedEpolls, KnowTheTimesOfTimersWithin) {
  const Reference<EpollFile> level = make_epoll(), edge = make_epoll(), inner = make_epoll();
  ASSERT_TRUE(level->add(inner, 3, {readable, 1}).ok());
  ASSERT_TRUE(edge->add(inner, 3, {readable | epoll_flag::edge, 2}).ok());
  const Reference<FileDescription> timer = make_timer(Nanoseconds(50));
  ASSERT_TRUE(inner->add(timer, 4, {readable, 44}).ok());
  EXPECT_EQ(level->ready_at(), clock.now + Nanoseconds(50));
  EXPECT_EQ(collect(*level) + collect(*edge), 0u);
  clock.now += Nanoseconds(60);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(collect(*level), 1u);
    EXPECT_EQ(collect(*edge), turn == 0 ? 2u : 0u);
  }
  take(*timer);
  EXPECT_EQ(collect(*level) + collect(*edge), 0u);
}

TEST_F(NestedEpolls, WakeWhoSleepsBeforeATimerWithinWasKnown) {
  const Reference<EpollFile> outer = make_epoll(), inner = make_epoll(), other = make_epoll();
  const Reference<FileDescription> timer = make_timer(Nanoseconds(50));
  ASSERT_TRUE(outer->add(inner, 3, {readable, 33}).ok());
  CountingWaiter sleeper;
  outer->poll_source()->join(sleeper);
  ASSERT_TRUE(inner->add(timer, 4, {readable, 44}).ok());
  EXPECT_EQ(sleeper.count, 1);
  EXPECT_EQ(collect(*outer), 0u);
  clock.now += Nanoseconds(60);
  EXPECT_EQ(outer->ready_at(), clock.now - Nanoseconds(10));  // it came after the look
  EXPECT_EQ(collect(*inner), 44u);                            // who waits for the outer one looks again
  EXPECT_EQ(sleeper.count, 2);
  EXPECT_EQ(collect(*outer), 33u);
  take(*timer);
  timer->as_timer()->set({Nanoseconds(50), Nanoseconds(0)}, TimerFile::Start::relative);
  ASSERT_TRUE(other->add(timer, 4, {readable, 55}).ok());
  const int before = sleeper.count;
  ASSERT_TRUE(outer->add(other, 5, {readable, 66}).ok());
  EXPECT_EQ(sleeper.count, before + 1);
  outer->poll_source()->leave(sleeper);
}

TEST_F(NestedEpolls, AreHoldersOrHeldAndMayChange) {
  const Reference<EpollFile> a = make_epoll(), b = make_epoll(), c = make_epoll();
  EXPECT_EQ(a->add(a, 1, {readable, 1}).error(), Errno::einval);
  EXPECT_EQ(a->add(b, 1, {readable | epoll_flag::exclusive, 1}).error(), Errno::einval);
  ASSERT_TRUE(a->add(b, 1, {readable, 1}).ok());
  EXPECT_EQ(a->add(b, 1, {readable, 1}).error(), Errno::eexist);
  EXPECT_EQ(b->add(a, 1, {readable, 1}).error(), Errno::eloop);  // a circle
  EXPECT_EQ(b->add(c, 1, {readable, 1}).error(), Errno::eloop);  // too deep
  EXPECT_EQ(c->add(a, 1, {readable, 1}).error(), Errno::eloop);
  ASSERT_TRUE(c->add(b, 1, {readable, 1}).ok());
  heap.left = 0;
  EXPECT_EQ(a->add(b, 2, {readable, 1}).error(), Errno::enomem);
  heap.left = 1000;
  ASSERT_TRUE(c->remove(*b, 1).ok() && a->remove(*b, 1).ok());
  EXPECT_TRUE(b->add(a, 1, {readable, 1}).ok());
}

TEST_F(NestedEpolls, GoInAnyOrder) {
  DescriptorTable table(heap);
  const auto in_table = [&](const Reference<EpollFile>& file) { return table.add(file, OnExecute::keeps).value(); };
  Reference<EpollFile> outer = make_reference<EpollFile>(heap, heap, clock, 0u).value();
  Reference<EpollFile> inner = make_reference<EpollFile>(heap, heap, clock, 0u).value();
  const std::int32_t outer_number = in_table(outer), inner_number = in_table(inner);
  const Reference<FileDescription> event = make_event();
  ASSERT_TRUE(inner->add(event, 9, {readable, 1}).ok() && outer->add(inner, inner_number, {readable, 2}).ok());
  inner.reset();
  count_up(*event);
  EXPECT_EQ(collect(*outer), 2u);
  ASSERT_TRUE(table.close(inner_number).ok());  // the last descriptor: nobody holds it any more
  EXPECT_EQ(collect(*outer), 0u);
  const Reference<EpollFile> other = make_epoll();
  ASSERT_TRUE(outer->add(other, 7, {readable, 3}).ok());
  outer.reset();
  ASSERT_TRUE(table.close(outer_number).ok());
  EXPECT_TRUE(other->add(make_epoll(), 8, {readable, 4}).ok());  // it is free again
}

}  // namespace
}  // namespace ingot::os
