#include "server/metrics/metrics_text.h"

#include <gtest/gtest.h>

#include <array>

namespace ingot {
namespace {

TEST(MetricsText, SamplesOfAGaugeStandUnderItsHelpAndType) {
  MetricsText text;
  text.begin_gauge("ingot_num_requests_running", "Requests that generate.");
  const std::array labels = {MetricLabel{"model_name", "tales"}};
  text.sample(labels, 3);
  text.begin_counter("ingot_bytes_total", "Bytes.");
  text.sample({}, 0.5);
  EXPECT_EQ(text.text(),
            "# HELP ingot_num_requests_running Requests that generate.\n"
            "# TYPE ingot_num_requests_running gauge\n"
            "ingot_num_requests_running{model_name=\"tales\"} 3\n"
            "# HELP ingot_bytes_total Bytes.\n"
            "# TYPE ingot_bytes_total counter\n"
            "ingot_bytes_total 0.5\n");
}

TEST(MetricsText, BucketsOfAHistogramAddUp) {
  const std::array bounds = {0.1, 1.0};
  Histogram histogram(bounds);
  for (const double value : {0.05, 0.1, 0.5, 7.0}) histogram.observe(value);
  MetricsText text;
  text.begin_histogram("wait_seconds", "Waits.");
  text.sample({}, histogram);
  EXPECT_EQ(text.text(),
            "# HELP wait_seconds Waits.\n"
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{le=\"0.1\"} 2\n"
            "wait_seconds_bucket{le=\"1\"} 3\n"
            "wait_seconds_bucket{le=\"+Inf\"} 4\n"
            "wait_seconds_sum 7.65\n"
            "wait_seconds_count 4\n");
}

TEST(MetricsText, ALabelsValueCannotBreakItsLine) {
  MetricsText text;
  text.begin_gauge("one", "One.");
  const std::array labels = {MetricLabel{"model_name", "a\"b\\c\nd"}};
  text.sample(labels, 1);
  EXPECT_TRUE(text.text().ends_with("one{model_name=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

}  // namespace
}  // namespace ingot
