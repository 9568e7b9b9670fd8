// Requests whose listeners do not keep up.
#include <gtest/gtest.h>

#include "engine/service_fixture.h"

namespace ingot {
namespace {

class ServicePauseTest : public ServiceTest {
 protected:
  TextRequest endless(std::string_view opening, std::int64_t tokens) const {
    TextRequest asked = request(opening, tokens);
    asked.ignores_end = true;
    return asked;
  }
  void step_until(std::size_t tokens, const Heard& heard) {
    for (int pass = 0; heard.tokens.size() < tokens; ++pass) {
      ASSERT_TRUE(service_->step());
      ASSERT_LT(pass, 1000);
    }
  }
};

TEST_F(ServicePauseTest, APausedRequestKeepsItsPagesAndSaysNothing) {
  const TextRequest asked = endless(openings[0], 30);
  const std::string expected = alone(asked);
  serve(3);
  const HeardListener paused = std::make_shared<Heard>(), other = std::make_shared<Heard>();
  const std::int64_t number = submit(asked, paused);
  step_until(5, *paused);
  service_->pause(number);
  submit(endless(openings[1], 30), other);
  while (service_->step()) {
  }
  EXPECT_EQ(other->ended, GenerationEnd::token_limit);
  EXPECT_EQ(paused->tokens.size(), 5u);
  EXPECT_EQ(service_->counts().running, 1);
  EXPECT_GT(service_->counts().pages_in_use, 0);
  EXPECT_FALSE(service_->step()) << "nothing can be computed: whoever runs the passes must be able to wait";
  service_->resume(number);
  bell_.wait();  // it was rung
  run_all();
  EXPECT_EQ(paused->text, expected);
  EXPECT_EQ(service_->counts().preemptions, 0);
}

TEST_F(ServicePauseTest, APausedRequestCanBeCancelledAndItsTimeCanEnd) {
  serve(3);
  const HeardListener gone = std::make_shared<Heard>(), late = std::make_shared<Heard>();
  TextRequest in_time = endless(openings[1], 30);
  in_time.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  const std::int64_t first = submit(endless(openings[0], 30), gone), second = submit(in_time, late);
  step_until(1, *late);
  service_->pause(first);
  service_->pause(second);
  EXPECT_FALSE(service_->step());
  EXPECT_EQ(service_->earliest_deadline(), in_time.deadline);
  service_->cancel(first);
  service_->cancel(second);
  run_all();
  EXPECT_EQ(gone->ended, GenerationEnd::cancelled);
  EXPECT_EQ(late->ended, GenerationEnd::cancelled);
  EXPECT_EQ(service_->earliest_deadline(), std::nullopt);
}

// As many as may run do not read what they are told: the others get their places, and they theirs again later.
TEST_F(ServicePauseTest, PausedRequestsKeepNobodyWaiting) {
  std::vector<std::string> expected;
  std::vector<TextRequest> requests;
  for (std::size_t i = 0; i < 3; ++i) {
    requests.push_back(endless(openings[i], 20));
    ASSERT_LE(requests[i].prompt.size() + 20, 6u * small_page);
    expected.push_back(alone(requests.back()));
  }
  for (const std::int64_t pages : {0, 6}) {  // what is short are sequences, or pages
    serve(pages > 0 ? 8 : 2, pages);
    std::vector<HeardListener> listeners;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < 2; ++i) {
      numbers.push_back(submit(requests[i], listeners.emplace_back(std::make_shared<Heard>())));
      step_until(1, *listeners[i]);
      service_->pause(numbers[i]);
    }
    submit(requests[2], listeners.emplace_back(std::make_shared<Heard>()));
    while (service_->step()) {
    }
    EXPECT_EQ(listeners[2]->ended, GenerationEnd::token_limit) << pages << " pages";
    EXPECT_GT(service_->counts().preemptions, 0);
    EXPECT_FALSE(listeners[0]->ended || listeners[1]->ended);
    for (const std::int64_t number : numbers) service_->resume(number);
    run_all();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(listeners[i]->text, expected[i]) << "request " << i;
  }
}

// One that waits for another to compute what both begin with does not wait when that one is paused.
TEST_F(ServicePauseTest, NobodyWaitsForTheBeginningOfAPausedRequest) {
  const TextRequest asked = endless(openings[4], 8);
  const std::string expected = alone(asked);
  serve(3);
  const HeardListener paused = std::make_shared<Heard>(), other = std::make_shared<Heard>();
  const std::int64_t number = submit(asked, paused);
  service_->pause(number);
  submit(asked, other);
  while (service_->step()) {
  }
  EXPECT_EQ(other->text, expected);
  EXPECT_TRUE(paused->tokens.empty());
  EXPECT_EQ(service_->counts().waiting, 1);
  service_->resume(number);
  run_all();
  EXPECT_EQ(paused->text, expected);
}

// Also where it waited for it already, and all places are taken by paused requests.
TEST_F(ServicePauseTest, NobodyGoesOnWaitingForOneThatWasPausedLater) {
  serve(2);
  TextRequest asked = endless(openings[4], 4);
  while (asked.prompt.size() < 100) asked.prompt.push_back(asked.prompt.back());  // more than a pass reads
  const HeardListener generating = std::make_shared<Heard>(), reading = std::make_shared<Heard>(),
                      other = std::make_shared<Heard>();
  const std::int64_t first = submit(endless(openings[0], 50), generating);
  step_until(1, *generating);
  const std::int64_t second = submit(asked, reading);
  submit(asked, other);
  service_->step();
  ASSERT_EQ(service_->counts().running, 2);
  service_->pause(first);
  service_->pause(second);
  while (service_->step()) {
  }
  EXPECT_EQ(other->ended, GenerationEnd::token_limit);
  service_->resume(first);
  service_->resume(second);
  run_all();
  EXPECT_EQ(reading->text, other->text);
}

}  // namespace
}  // namespace ingot
