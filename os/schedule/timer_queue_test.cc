#include "os/schedule/timer_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "base/random.h"

namespace ingot::os {
namespace {

class TestAlarm : public TimerAlarm {
 public:
  void ring_at(Nanoseconds time) override { rings_at = time; }
  Nanoseconds rings_at{-1};
};

class TestTimer final : public Timer {
 public:
  TestTimer(int given, std::vector<int>& log) : number(given), log_(log) {}
  const int number;
  std::optional<Nanoseconds> again;

 private:
  std::optional<Nanoseconds> expired() override {
    log_.push_back(number);
    return std::exchange(again, std::nullopt);
  }
  std::vector<int>& log_;
};

TEST(TimerQueue, TakesATimeBeforeTheClockBeganForNow) {
  TestAlarm alarm;
  TimerQueue queue(alarm);
  std::vector<int> log;
  TestTimer timer(1, log);
  queue.add(timer, Nanoseconds(-5));
  EXPECT_EQ(alarm.rings_at, Nanoseconds(0));
  EXPECT_EQ(queue.expire(Nanoseconds(1)), 1u);
}

TEST(TimerQueue, SetsTheAlarmToTheEarliest) {
  TestAlarm alarm;
  TimerQueue queue(alarm);
  std::vector<int> log;
  TestTimer late(1, log);
  TestTimer early(2, log);
  queue.add(late, Nanoseconds(20));
  EXPECT_EQ(alarm.rings_at, Nanoseconds(20));
  queue.add(early, Nanoseconds(10));
  EXPECT_EQ(alarm.rings_at, Nanoseconds(10));
  EXPECT_EQ(queue.expire(Nanoseconds(15)), 1u);
  EXPECT_EQ(alarm.rings_at, Nanoseconds(20));
  EXPECT_FALSE(queue.cancel(early));
  EXPECT_TRUE(queue.cancel(late));
  EXPECT_EQ(queue.expire(Nanoseconds(100)), 0u);
  EXPECT_EQ(log, std::vector<int>{2});
}

TEST(TimerQueue, LetsOneWaitAnew) {
  TestAlarm alarm;
  TimerQueue queue(alarm);
  std::vector<int> log;
  TestTimer timer(1, log), other(2, log);
  timer.again = Nanoseconds(30);
  queue.add(timer, Nanoseconds(10));
  queue.add(other, Nanoseconds(20));
  EXPECT_EQ(queue.expire(Nanoseconds(25)), 2u);
  EXPECT_EQ(alarm.rings_at, Nanoseconds(30));
  EXPECT_EQ(queue.expire(Nanoseconds(30)), 1u);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 1}));
}

TEST(TimerQueue, DoesWhatASortedMapDoes) {
  TestAlarm alarm;
  TimerQueue queue(alarm);
  RandomNumbers random(3);
  std::vector<int> log;
  std::vector<std::unique_ptr<TestTimer>> timers;
  for (int i = 0; i < 100; ++i) timers.push_back(std::make_unique<TestTimer>(i, log));
  std::multimap<std::int64_t, int> model;  // keeps equal keys in the order of adding
  std::int64_t now = 0;
  for (int step = 0; step < 30000; ++step) {
    const int number = static_cast<int>(random.below(100));
    TestTimer& timer = *timers[static_cast<std::size_t>(number)];
    auto known = model.begin();
    while (known != model.end() && known->second != number) ++known;
    const std::uint64_t action = random.below(10);
    if (action < 6 && known == model.end()) {
      const std::int64_t deadline = now + static_cast<std::int64_t>(random.below(50));
      queue.add(timer, Nanoseconds(deadline));
      model.emplace(deadline, number);
    } else if (action < 9) {
      EXPECT_EQ(queue.cancel(timer), known != model.end());
      if (known != model.end()) model.erase(known);
    } else {
      now += static_cast<std::int64_t>(random.below(20));
      std::vector<int> due;
      while (!model.empty() && model.begin()->first <= now) {
        due.push_back(model.begin()->second);
        model.erase(model.begin());
      }
      log.clear();
      ASSERT_EQ(queue.expire(Nanoseconds(now)), due.size());
      ASSERT_EQ(log, due);
    }
    const auto next = queue.next_deadline();
    ASSERT_EQ(next.has_value(), !model.empty());
    if (next) {
      ASSERT_EQ(next->count(), model.begin()->first);
    }
  }
  queue.expire(Nanoseconds(now + 1000));
}

TEST(TimerQueueDeathTest, ATimerIsInOneQueueAndLeavesItBeforeItEnds) {
  TestAlarm alarm;
  std::vector<int> log;
  EXPECT_DEATH(
      {
        TimerQueue queue(alarm);
        TestTimer timer(1, log);
        queue.add(timer, Nanoseconds(1));
        queue.add(timer, Nanoseconds(2));
      },
      "");
  EXPECT_DEATH(
      {
        TimerQueue queue(alarm);
        TestTimer timer(1, log);
        queue.add(timer, Nanoseconds(1));
      },
      "");
}

}  // namespace
}  // namespace ingot::os
