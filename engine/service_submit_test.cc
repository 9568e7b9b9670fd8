#include <gtest/gtest.h>

#include "engine/service_fixture.h"

namespace ingot {
namespace {

class ServiceSubmitTest : public ServiceTest {
 protected:
  // So many choices of one request, which tell heard_.
  Result<std::int64_t> submit_choices(const TextRequest& asked, std::size_t choices) {
    TextChoices all{asked, {}};
    heard_.clear();
    for (std::size_t choice = 0; choice < choices; ++choice) {
      all.listeners.push_back(heard_.emplace_back(std::make_shared<Heard>()));
    }
    std::vector<TextChoices> requests;
    requests.push_back(std::move(all));
    return service_->submit(std::move(requests));
  }
  static std::string refusal(const Result<std::int64_t>& submitted, ErrorCode code) {
    EXPECT_FALSE(submitted.ok());
    if (submitted.ok()) return "accepted";
    EXPECT_EQ(submitted.error().code(), code);
    return std::string(submitted.error().text());
  }

  std::vector<HeardListener> heard_;
};

TEST_F(ServiceSubmitTest, AllChoicesOfARequestAreTakenOrNone) {
  serve(1, 0, {.queue = 4});
  const TextRequest asked = request(openings[2], 2);
  const std::int64_t before = submit(asked, std::make_shared<Heard>());
  submit(asked, std::make_shared<Heard>());
  refusal(submit_choices(asked, 3), ErrorCode::would_block);
  EXPECT_EQ(service_->counts().waiting, 2);
  // One of the two cannot be made, so neither comes.
  const std::vector<HeardListener> refused = heard_;
  std::vector<TextChoices> requests(2);
  for (TextChoices& each : requests) each = {asked, {refused.front()}};
  requests.back().request.prompt.push_back(-1);
  refusal(service_->submit(std::move(requests)), ErrorCode::invalid_argument);
  EXPECT_EQ(service_->counts().waiting, 2);
  const Result<std::int64_t> first = submit_choices(asked, 2);
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_EQ(first.value(), before + 2);
  service_->cancel(first.value() + 1);
  run_all();
  EXPECT_EQ(heard_[0]->ended, GenerationEnd::token_limit);
  EXPECT_EQ(heard_[1]->ended, GenerationEnd::cancelled);
  for (const HeardListener& listener : refused) EXPECT_FALSE(listener->ended);
}

TEST_F(ServiceSubmitTest, EachChoiceDrawsByASeedOfItsOwn) {
  TextRequest asked = request(openings[2], 8);
  asked.sampling.temperature = 2;
  asked.sampling.seed = 40;
  serve(4);
  ASSERT_TRUE(submit_choices(asked, 3).ok());
  run_all();
  const std::vector<HeardListener> choices = heard_;
  for (const HeardListener& choice : choices) {
    EXPECT_EQ(choice->text, alone(asked)) << asked.sampling.seed;
    ++asked.sampling.seed;
  }
  EXPECT_NE(choices[0]->text, choices[1]->text);
}

TEST_F(ServiceSubmitTest, WhatTheQueueCanNeverHoldIsNotAskedForAgain) {
  serve(1, 4, {.queue = 4, .queue_in_caches = 1.5});  // 48 tokens
  TextRequest asked = request(openings[2], 1);
  const std::string many = refusal(submit_choices(asked, 5), ErrorCode::invalid_argument);
  EXPECT_NE(many.find("at most 4 choices"), std::string::npos) << many;
  EXPECT_NE(many.find("found 5"), std::string::npos) << many;
  asked.prompt.resize(3 * small_page, asked.prompt.back());
  const std::string long_ones = refusal(submit_choices(asked, 3), ErrorCode::invalid_argument);
  EXPECT_NE(long_ones.find("at most 48 tokens"), std::string::npos) << long_ones;
  EXPECT_NE(long_ones.find("found 72"), std::string::npos) << long_ones;
  EXPECT_TRUE(submit_choices(asked, 2).ok());
  refusal(submit_choices(asked, 2), ErrorCode::would_block);
  run_all();
  EXPECT_FALSE(service_->check_queue_holds(5, 0).ok());
  EXPECT_TRUE(service_->check_queue_holds(4, 48).ok());
  EXPECT_TRUE(service_->check_queue_holds(1, 49).ok());  // whoever comes alone may come
}

}  // namespace
}  // namespace ingot
