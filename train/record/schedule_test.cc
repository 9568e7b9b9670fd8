#include "train/record/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace ingot {
namespace {

constexpr LearningRateSchedule cosine{ScheduleKind::cosine, 1e-3, 1e-4, 10, 111};

TEST(Schedule, WarmsUpLinearlyToThePeak) {
  EXPECT_DOUBLE_EQ(learning_rate_at(cosine, 0), 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate_at(cosine, 4), 5e-4);
  EXPECT_EQ(learning_rate_at(cosine, 9), 1e-3);
  EXPECT_EQ(learning_rate_at(cosine, 10), 1e-3);
}

TEST(Schedule, EveryKindHasItsEndsAndItsMiddle) {
  EXPECT_NEAR(learning_rate_at(cosine, 60), 5.5e-4, 1e-18);
  EXPECT_NEAR(learning_rate_at(cosine, 35), 1e-4 + 9e-4 * (1 + std::sqrt(0.5)) / 2, 1e-17);
  EXPECT_EQ(learning_rate_at(cosine, 110), 1e-4);
  EXPECT_EQ(learning_rate_at(cosine, 1'000'000), 1e-4);
  LearningRateSchedule schedule = cosine;
  schedule.kind = ScheduleKind::linear;
  EXPECT_EQ(learning_rate_at(schedule, 10), 1e-3);
  EXPECT_NEAR(learning_rate_at(schedule, 35), 1e-4 + 9e-4 * 0.75, 1e-18);
  EXPECT_EQ(learning_rate_at(schedule, 110), 1e-4);
  EXPECT_EQ(learning_rate_at(schedule, 500), 1e-4);
  schedule.kind = ScheduleKind::constant;
  EXPECT_EQ(learning_rate_at(schedule, 10), 1e-3);
  EXPECT_EQ(learning_rate_at(schedule, 500), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate_at(schedule, 0), 1e-4);
}

TEST(Schedule, TheCosineIsTheLibrarysToTheLastBits) {
  const LearningRateSchedule schedule{ScheduleKind::cosine, 1, 0, 0, 1001};
  double previous = 2;
  for (int step = 0; step <= 1000; ++step) {
    const double rate = learning_rate_at(schedule, step);
    EXPECT_NEAR(rate, (1 + std::cos(std::numbers::pi * step / 1000)) / 2, 1e-15) << step;
    EXPECT_LT(rate, previous) << step;
    previous = rate;
  }
}

TEST(Schedule, RunsOfOneStepAndOfWarmupAloneHaveARate) {
  EXPECT_EQ(learning_rate_at({ScheduleKind::cosine, 1, 0, 0, 1}, 0), 1);
  EXPECT_EQ(learning_rate_at({ScheduleKind::cosine, 1, 0, 4, 4}, 3), 1);
  EXPECT_EQ(learning_rate_at({ScheduleKind::linear, 1, 0, 4, 4}, 4), 0);
}

void expect_refused_schedule(const LearningRateSchedule& schedule, std::string_view part) {
  const Result<void> checked = check_schedule(schedule);
  ASSERT_FALSE(checked.ok()) << part;
  EXPECT_NE(checked.error().text().find(part), std::string_view::npos) << checked.error().text();
}

TEST(Schedule, BadNumbersAreRefusedByName) {
  EXPECT_TRUE(check_schedule(cosine).ok());
  EXPECT_TRUE(check_schedule({ScheduleKind::cosine, 1, 1, 5, 5}).ok());
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  expect_refused_schedule({ScheduleKind::cosine, 0, 0, 0, 1}, "learning_rate: expected a finite number above 0");
  expect_refused_schedule({ScheduleKind::cosine, nan, 0, 0, 1}, "learning_rate: ");
  expect_refused_schedule({ScheduleKind::cosine, infinity, 0, 0, 1}, "found inf");
  expect_refused_schedule({ScheduleKind::cosine, 1, -1, 0, 1}, "least_learning_rate: expected a number from 0 to");
  expect_refused_schedule({ScheduleKind::cosine, 1, 2, 0, 1}, "(1), found 2");
  expect_refused_schedule({ScheduleKind::cosine, 1, nan, 0, 1}, "least_learning_rate: ");
  expect_refused_schedule({ScheduleKind::cosine, 1, 0, 0, 0}, "steps: expected at least 1, found 0");
  expect_refused_schedule({ScheduleKind::cosine, 1, 0, -1, 5}, "warmup: expected from 0 to steps (5), found -1");
  expect_refused_schedule({ScheduleKind::cosine, 1, 0, 6, 5}, "found 6");
}

}  // namespace
}  // namespace ingot
