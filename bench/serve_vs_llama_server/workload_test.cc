#include "bench/serve_vs_llama_server/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace ingot::load {
namespace {

TEST(PlanRequests, IsTheSameForASeedAndNoOther) {
  const WorkloadOptions options{.requests = 4, .prompt_tokens = 16, .is_mixed = true, .rate = 3, .seed = 5};
  const auto one = plan_requests(options);
  const auto again = plan_requests(options);
  WorkloadOptions other_options = options;
  other_options.seed = 6;
  const auto other = plan_requests(other_options);
  for (std::size_t index = 0; index < one.size(); ++index) {
    EXPECT_EQ(one[index].prompt, again[index].prompt);
    EXPECT_EQ(one[index].arrival, again[index].arrival);
    EXPECT_EQ(one[index].tokens, again[index].tokens);
    EXPECT_NE(one[index].prompt, other[index].prompt);
  }
}

TEST(PlanRequests, SharesThePrefixAndNothingElse) {
  const WorkloadOptions options{
      .requests = 50, .prompt_tokens = 24, .shared_prefix = 16, .first_id = 10, .end_id = 9000};
  std::set<std::vector<std::int32_t>> prefixes;
  std::set<std::vector<std::int32_t>> tails;
  for (const PlannedRequest& request : plan_requests(options)) {
    ASSERT_EQ(request.prompt.size(), 24U);
    prefixes.emplace(request.prompt.begin(), request.prompt.begin() + 16);
    tails.emplace(request.prompt.begin() + 16, request.prompt.end());
    EXPECT_TRUE(std::ranges::all_of(request.prompt, [](std::int32_t id) { return id >= 10 && id < 9000; }));
  }
  EXPECT_EQ(prefixes.size(), 1U);
  EXPECT_EQ(tails.size(), 50U);
}

// A follow-up turn is a longer prompt with the same prefix of the same seed.
TEST(PlanRequests, KeepsThePrefixWhenTheRestGrows) {
  WorkloadOptions options{.requests = 1, .prompt_tokens = 16, .shared_prefix = 16};
  const auto first = plan_requests(options);
  options.prompt_tokens = 20;
  const auto second = plan_requests(options);
  EXPECT_TRUE(std::ranges::equal(first[0].prompt, std::span(second[0].prompt).first(16)));
}

TEST(PlanRequests, MixesLengthsWithinBounds) {
  const WorkloadOptions options{.requests = 500, .prompt_tokens = 256, .tokens = 64, .is_mixed = true};
  std::int64_t short_prompts = 0;
  for (const PlannedRequest& request : plan_requests(options)) {
    EXPECT_GE(request.prompt.size(), 16U);
    EXPECT_LE(request.prompt.size(), 256U);
    EXPECT_GE(request.tokens, 4);
    EXPECT_LE(request.tokens, 64);
    if (request.prompt.size() < 64) ++short_prompts;
  }
  EXPECT_GT(short_prompts, 180);  // half of them are two doublings below the most
  EXPECT_LT(short_prompts, 320);
}

TEST(PlanRequests, ArrivesAtTheRate) {
  const WorkloadOptions options{.requests = 2000, .prompt_tokens = 1, .rate = 50};
  const auto planned = plan_requests(options);
  EXPECT_TRUE(std::ranges::is_sorted(planned, {}, &PlannedRequest::arrival));
  EXPECT_NEAR(planned.back().arrival, 40, 4);
}

TEST(PlanRequests, PutsTheIntruderLast) {
  const auto planned = plan_requests({.requests = 2, .prompt_tokens = 8, .intruder_tokens = 100});
  ASSERT_EQ(planned.size(), 3U);
  EXPECT_EQ(planned.back().prompt.size(), 100U);
}

TEST(BodyOf, IsWhatBothServersTake) {
  const PlannedRequest request{.prompt = {7, 8}, .tokens = 3};
  const auto body = nlohmann::json::parse(body_of(request, {.seed = 40}, 2));
  EXPECT_EQ(body["prompt"], (std::vector<int>{7, 8}));
  EXPECT_EQ(body["max_tokens"], 3);
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["seed"], 42);
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_FALSE(body.contains("top_k"));
  EXPECT_EQ(nlohmann::json::parse(body_of(request, {.temperature = 0.8}, 0))["top_p"], 0.95);
}

TEST(Check, RefusesWhatCannotBePlanned) {
  EXPECT_TRUE(check({}).ok());
  EXPECT_FALSE(check({.requests = 0}).ok());
  EXPECT_FALSE(check({.prompt_tokens = 8, .shared_prefix = 9}).ok());
  EXPECT_FALSE(check({.rate = -1}).ok());
  EXPECT_FALSE(check({.temperature = 3}).ok());
  EXPECT_FALSE(check({.first_id = 5, .end_id = 5}).ok());
  EXPECT_FALSE(check({.rate = 1, .intruder_tokens = 5}).ok());
}

}  // namespace
}  // namespace ingot::load
