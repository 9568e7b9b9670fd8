#include "os/network/timers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "os/schedule/test_heap.h"

namespace ingot::os::network {
namespace {

class TimersTest : public ::testing::Test, protected Machine {
 protected:
  Nanoseconds now() override { return now_; }
  void fill_random(std::span<std::byte>) override {}
  HeapBlocks& blocks() override { return blocks_; }
  void wake_at(Nanoseconds time) override { wake_ = std::min(wake_, time); }
  // To the time that was asked for, as the kernel's thread does.
  void wake() {
    now_ = std::max(now_, std::exchange(wake_, never));
    timers_.run(now_);
  }

  static constexpr Nanoseconds never{INT64_MAX};
  Nanoseconds now_, wake_ = never;
  TestHeap heap_;
  HeapBlocks blocks_{heap_};
  NetworkTimers timers_{*this};
};

struct Recorder final : NetworkTimer {
  void expired(Nanoseconds now) override { times.push_back(now.count()); }
  std::vector<std::int64_t> times;
};

TEST_F(TimersTest, ExpireOnceAtTheirLastTime) {
  Recorder put_off, cleared, brought_forward;
  timers_.set(put_off, Nanoseconds(10));
  timers_.set(put_off, Nanoseconds(30));
  timers_.set(cleared, Nanoseconds(15));
  timers_.set(brought_forward, Nanoseconds(40));
  timers_.set(brought_forward, Nanoseconds(20));
  timers_.clear(cleared);
  while (wake_ != never) wake();
  EXPECT_EQ(put_off.times, std::vector<std::int64_t>{30});
  EXPECT_EQ(brought_forward.times, std::vector<std::int64_t>{20});
  EXPECT_TRUE(cleared.times.empty());
}

TEST_F(TimersTest, AgreeWithAMapInAnyOrder) {
  std::mt19937 random(11);
  std::vector<Recorder> timers(20);
  std::map<std::size_t, std::int64_t> expected;
  for (int step = 0; step < 20000; ++step) {
    const std::size_t which = random() % timers.size();
    const std::int64_t time = now_.count() + static_cast<std::int64_t>(random() % 50);
    switch (random() % 4) {
      case 0:
        timers_.clear(timers[which]);
        expected.erase(which);
        break;
      case 1:
        if (wake_ != never) wake();
        break;
      default: timers_.set(timers[which], Nanoseconds(time)); expected[which] = time;
    }
    for (auto it = expected.begin(); it != expected.end();) {
      std::vector<std::int64_t>& told = timers[it->first].times;
      if (told.empty()) {
        ASSERT_TRUE(it->second >= now_.count() || wake_ <= now_) << "forgotten";
        ++it;
        continue;
      }
      ASSERT_EQ(told.size(), 1u);
      ASSERT_GE(told[0], it->second);
      told.clear();
      it = expected.erase(it);
    }
    for (const Recorder& timer : timers) ASSERT_TRUE(timer.times.empty()) << "nobody had set it";
  }
  for (Recorder& timer : timers) timers_.clear(timer);
}

}  // namespace
}  // namespace ingot::os::network
