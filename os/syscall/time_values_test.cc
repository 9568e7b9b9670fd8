#include "os/syscall/time_values.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

constexpr std::int64_t second = TimeSpecification::nanoseconds_per_second;

TEST(TimeValues, AreNanosecondsWhereTheyAreTimes) {
  EXPECT_EQ((TimeSpecification{2, 3}.nanoseconds().value()), Nanoseconds(2 * second + 3));
  EXPECT_EQ((TimeValue{2, 3}.nanoseconds().value()), Nanoseconds(2 * second + 3000));
  for (const TimeSpecification wrong : {TimeSpecification{-1, 0}, {0, -1}, {0, second}, {INT64_MIN, INT64_MIN}}) {
    EXPECT_EQ(wrong.nanoseconds().error(), Errno::einval);
  }
  for (const TimeValue wrong : {TimeValue{-1, 0}, {0, -1}, {0, 1'000'000}, {INT64_MIN, INT64_MIN}}) {
    EXPECT_EQ(wrong.nanoseconds().error(), Errno::einval);
  }
  EXPECT_EQ(TimeValue::of(Nanoseconds(2 * second + 3999)).microsecond_part, 3);
}

TEST(TimeValues, BeyondTheClockIsItsEnd) {
  EXPECT_GT((TimeSpecification{INT64_MAX, 0}.nanoseconds().value()), Nanoseconds(INT64_MAX - 2 * second));
  EXPECT_GT((TimeValue{INT64_MAX, 0}.nanoseconds().value()), Nanoseconds(INT64_MAX - 2 * second));
  EXPECT_EQ(later(Nanoseconds(INT64_MAX), Nanoseconds(1)), Nanoseconds(INT64_MAX));
}

TEST(TimeValues, SelectTakesMoreMicrosecondsThanASecondHas) {
  EXPECT_EQ((TimeValue{1, 2'500'000}.duration().value()), Nanoseconds(3 * second + second / 2));
  EXPECT_EQ((TimeValue{INT64_MAX, 1'000'000}.duration().error()), Errno::einval);  // a sum that no word holds
  EXPECT_EQ((TimeValue{0, -1}.duration().error()), Errno::einval);
  EXPECT_GT((TimeValue{0, INT64_MAX}.duration().value()), Nanoseconds(INT64_MAX - 2 * second));
}

}  // namespace
}  // namespace ingot::os
