#include "bench/serve_vs_llama_server/statistics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ingot::load {
namespace {

TEST(Percentile, IsTheNearestRank) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({7}, 0.01), 7);
  EXPECT_EQ(percentile({7}, 1), 7);
  EXPECT_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.51), 3);
  std::vector<double> hundred;
  for (int value = 100; value >= 1; --value) hundred.push_back(value);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
  EXPECT_EQ(percentile(hundred, 0.991), 100);
  EXPECT_EQ(percentile(hundred, 1), 100);
  EXPECT_EQ(percentile(hundred, 0.01), 1);
}

RequestRecord answered(double sent, std::vector<double> events, std::int64_t tokens) {
  return {.outcome = Outcome::answered,
          .sent = sent,
          .events = std::move(events),
          .asked = tokens,
          .usage = {.prompt = 10, .cached = 4, .generated = tokens},
          .has_usage = true};
}

TEST(TokensPerSecond, CountsWhatCameInTheWindow) {
  LoadRecord record;
  record.requests = {answered(0, {1, 2, 3, 4}, 4), answered(0, {1, 3}, 6)};  // three tokens an event in the second
  record.window_end = 3;
  EXPECT_DOUBLE_EQ(tokens_per_second(record), (2 + 3) / 3.0);
  record.window_end = 5;
  EXPECT_DOUBLE_EQ(tokens_per_second(record), 10 / 5.0);
}

TEST(RequestsPerSecond, CountsWhatIsHalfDoneByHalf) {
  LoadRecord record;
  record.requests = {answered(0, {1, 2}, 2), answered(0, {1, 3}, 2), answered(0, {9}, 1), RequestRecord{}};
  record.window_end = 3;
  EXPECT_DOUBLE_EQ(requests_per_second(record), 1.5 / 3);
}

TEST(TotalsOf, CountsByOutcomeAndNoticesShortAnswers) {
  std::vector<RequestRecord> requests = {answered(0, {1, 2}, 2), answered(0, {1}, 1), RequestRecord{}};
  requests[1].asked = 5;
  requests.push_back({.outcome = Outcome::failed, .failure = "why"});
  requests.push_back({.outcome = Outcome::abandoned, .events = {1, 2, 3}});
  const Totals totals = totals_of(requests);
  EXPECT_EQ(totals.answered, 2);
  EXPECT_EQ(totals.failed, 1);
  EXPECT_EQ(totals.abandoned, 1);
  EXPECT_EQ(totals.waiting, 1);
  EXPECT_EQ(totals.too_short, 1);
  EXPECT_EQ(totals.prompt_tokens, 20);
  EXPECT_EQ(totals.cached_tokens, 8);
  EXPECT_EQ(totals.tokens, 2 + 1 + 3);  // events stand for tokens where there was no usage
  EXPECT_EQ(totals.events, 2 + 1 + 3);
}

TEST(Gaps, LieBetweenTheEventsOfOneRequest) {
  const std::vector<RequestRecord> requests = {answered(0.5, {1, 1.25, 2}, 3), answered(3, {7}, 1), RequestRecord{}};
  EXPECT_EQ(gaps(requests), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(first_token_waits(requests), (std::vector<double>{0.5, 4}));
}

TEST(IntrusionOf, ComparesGapsBeforeAndDuring) {
  LoadRecord record;
  record.has_intruder = true;
  // The intruder comes at 4 and has its first token at 6. 3.5 to 5.5 is the gap that it made; 6.5 to 9.5 is not its
  // fault.
  record.requests = {answered(0, {1, 2, 3, 3.5, 5.5, 5.75, 5.875, 6, 6.5, 9.5}, 10), answered(4, {6, 6.5}, 2)};
  record.seconds = 10;
  const Intrusion intrusion = intrusion_of(record);
  EXPECT_DOUBLE_EQ(intrusion.quiet_gap, 1);
  EXPECT_DOUBLE_EQ(intrusion.longest_gap, 2);
  EXPECT_DOUBLE_EQ(intrusion.first_token, 2);
}

TEST(IntrusionOf, CountsAStreamThatStaysSilent) {
  LoadRecord record;
  record.has_intruder = true;
  record.requests = {{.outcome = Outcome::abandoned, .events = {1, 2, 3}, .ended = 9}, answered(4, {8}, 1)};
  record.seconds = 9;
  EXPECT_DOUBLE_EQ(intrusion_of(record).longest_gap, 6);
}

TEST(ReportOf, IsJsonWithTheFirstFailure) {
  LoadRecord record;
  record.requests = {answered(0, {1, 2}, 2), {.outcome = Outcome::failed, .failure = "bad \xff byte"}};
  record.seconds = record.window_end = 4;
  record.processor_time = 1;
  record.probe.seconds = {0.001};
  const nlohmann::json report = nlohmann::json::parse(report_of(record));
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["first_failure"].get<std::string>().substr(0, 4), "bad ");
  EXPECT_EQ(report["tokens_per_second"], 0.5);
  EXPECT_EQ(report["processor_share"], 0.25);
  EXPECT_EQ(report["probe_seconds"]["count"], 1);
  EXPECT_FALSE(report.contains("intruder"));
}

}  // namespace
}  // namespace ingot::load
