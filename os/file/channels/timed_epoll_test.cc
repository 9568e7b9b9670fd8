// What becomes ready by time alone, in an epoll: when it is told, and how long others may sleep.
#include "os/file/channels/epoll_fixture.h"
#include "os/file/channels/timer_file.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using namespace poll_event;

class TimedEpolls : public EpollFiles {};

TEST_F(TimedEpolls, TimersInAnEpollComeByTimeAlone) {
  Reference<EpollFile> epoll = make_epoll();
  Reference<FileDescription> level = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  Reference<FileDescription> edge = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  level->as_timer()->set({Nanoseconds(100), Nanoseconds(0)}, TimerFile::Start::relative);
  edge->as_timer()->set({Nanoseconds(50), Nanoseconds(100)}, TimerFile::Start::relative);
  ASSERT_TRUE(watch(*epoll, level, 3, {readable, 1}).ok());
  ASSERT_TRUE(watch(*epoll, edge, 4, {readable | epoll_flag::edge, 2}).ok());
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(epoll->ready_at(), clock.now + Nanoseconds(50));
  clock.now += Nanoseconds(60);
  EXPECT_EQ(collect(*epoll), (Told{{2, readable}}));
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(epoll->ready_at(), clock.now + Nanoseconds(40));
  clock.now += Nanoseconds(40);
  EXPECT_EQ(collect(*epoll), (Told{{1, readable}}));
  EXPECT_EQ(collect(*epoll), (Told{{1, readable}}));
  EXPECT_EQ(read_number(*edge).value(), 1u);
  clock.now += Nanoseconds(100);
  EXPECT_EQ(collect(*epoll).size(), 2u);
}

TEST_F(TimedEpolls, ATimerThatComesAfterTheLookIsLookedForAgain) {
  Reference<EpollFile> epoll = make_epoll();
  Reference<FileDescription> timer = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  timer->as_timer()->set({Nanoseconds(50), Nanoseconds(100)}, TimerFile::Start::relative);
  ASSERT_TRUE(watch(*epoll, timer, 3, {readable | epoll_flag::edge, 1}).ok());
  const Nanoseconds due = clock.now + Nanoseconds(50);
  EXPECT_TRUE(collect(*epoll).empty());
  clock.now += Nanoseconds(60);  // before the sleeper asks for how long
  EXPECT_EQ(epoll->ready_at(), due);
  CountingWaiter sleeper;
  epoll->poll_source()->join(sleeper);
  EXPECT_EQ(collect(*epoll), (Told{{1, readable}}));  // by another thread: the sleeper looks again
  EXPECT_EQ(sleeper.count, 1);
  EXPECT_EQ(epoll->ready_at(), std::nullopt);  // nobody looks for what was told
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(sleeper.count, 1);
  EXPECT_EQ(read_number(*timer).value(), 1u);  // now it comes again, which the sleeper did not know
  EXPECT_EQ(sleeper.count, 2);
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(epoll->ready_at(), due + Nanoseconds(100));
  epoll->poll_source()->leave(sleeper);
}

TEST_F(TimedEpolls, ATimerThatNobodyAsksForKeepsNobodyAwake) {
  Reference<EpollFile> epoll = make_epoll();
  Reference<FileDescription> timer = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  timer->as_timer()->set({Nanoseconds(50), Nanoseconds(0)}, TimerFile::Start::relative);
  ASSERT_TRUE(watch(*epoll, timer, 3, {writable, 1}).ok());
  CountingWaiter sleeper;
  epoll->poll_source()->join(sleeper);
  clock.now += Nanoseconds(60);
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(sleeper.count, 0);
  EXPECT_EQ(epoll->ready_at(), std::nullopt);
  epoll->poll_source()->leave(sleeper);
}

TEST_F(TimedEpolls, WhoSleepsLearnsOfATimerThatIsAdded) {
  Reference<EpollFile> epoll = make_epoll();
  Reference<FileDescription> timer = TimerFile::create(heap, clock, TimerClock::monotonic, 0).value();
  timer->as_timer()->set({Nanoseconds(50), Nanoseconds(0)}, TimerFile::Start::relative);
  CountingWaiter sleeper;
  epoll->poll_source()->join(sleeper);
  ASSERT_TRUE(watch(*epoll, timer, 3, {readable, 1}).ok());
  EXPECT_EQ(sleeper.count, 1);
  EXPECT_EQ(epoll->poll(), 0u);
  timer->as_timer()->set({Nanoseconds(20), Nanoseconds(0)}, TimerFile::Start::relative);
  EXPECT_EQ(sleeper.count, 2);
  epoll->poll_source()->leave(sleeper);
}

TEST_F(TimedEpolls, AFileThatMustBeLookedAtIsAskedAtEveryWait) {
  struct SilentFile final : FileDescription {
    explicit SilentFile(StandingClock& time) : FileDescription(open_flag::read_write), clock(time) {}
    Answer<FileStatus> status() override { return FileStatus{}; }
    std::uint32_t poll() override { return has_key ? poll_event::readable : 0; }
    PollSource* poll_source() override { return &source; }
    std::optional<Nanoseconds> ready_at() override { return clock.now + Nanoseconds(10); }
    StandingClock& clock;
    PollSource source;
    bool has_key = false;
  };
  Reference<EpollFile> epoll = make_epoll();
  const Reference<SilentFile> terminal = make_reference<SilentFile>(heap, clock).value();
  ASSERT_TRUE(watch(*epoll, terminal, 0, {readable, 1}).ok());
  EXPECT_TRUE(collect(*epoll).empty());
  EXPECT_EQ(epoll->ready_at(), clock.now + Nanoseconds(10));
  terminal->has_key = true;
  EXPECT_EQ(collect(*epoll), (Told{{1, readable}}));
  EXPECT_EQ(epoll->poll(), readable);
}

}  // namespace
}  // namespace ingot::os
