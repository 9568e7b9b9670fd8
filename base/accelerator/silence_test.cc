#include "base/accelerator/silence.h"

#include <gtest/gtest.h>

namespace ingot::accelerator {
namespace {

constexpr Nanoseconds millisecond{1'000'000}, hour{3'600'000'000'000};

TEST(Silence, LastsFromOneBeatToTheNext) {
  Silence silence;
  Nanoseconds now = hour;
  EXPECT_EQ(silence.listen(7, now), Nanoseconds{});
  for (int look = 1; look <= 5; ++look) {
    now = now + millisecond;
    EXPECT_EQ(silence.listen(7, now).count(), look * millisecond.count());
  }
  EXPECT_EQ(silence.listen(8, now + millisecond), Nanoseconds{});
}

TEST(Silence, IsNotHeardByWhoIsStoppedHimself) {
  Silence silence;
  EXPECT_EQ(silence.listen(7, hour), Nanoseconds{});
  EXPECT_EQ(silence.listen(7, hour + hour), Silence::beat);
  EXPECT_EQ(silence.listen(7, hour + hour + millisecond), Silence::beat + millisecond);
}

TEST(Silence, OfAHeartThatNeverBeatIsSilenceToo) {
  Silence silence;
  EXPECT_EQ(silence.listen(0, hour), Silence::beat);
  EXPECT_EQ(silence.listen(0, hour + millisecond), Silence::beat + millisecond);
}

}  // namespace
}  // namespace ingot::accelerator
