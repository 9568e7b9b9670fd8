// Who may wait, who runs, and in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/service_fixture.h"

namespace ingot {
namespace {

using ServiceTurnsTest = ServiceTest;

TEST_F(ServiceTurnsTest, RefusesWhatCanNeverFitAndWhatHasToWaitTooLong) {
  serve(1, 4, {.queue = 2});
  const HeardListener listener = std::make_shared<Heard>();
  const auto refusal = [&](TextRequest asked) {
    const Result<std::int64_t> number = service_->submit(std::move(asked), listener);
    EXPECT_FALSE(number.ok());
    return number.ok() ? ErrorCode::corrupt : number.error().code();
  };
  EXPECT_EQ(refusal(request(openings[0], 256)), ErrorCode::out_of_range);
  EXPECT_EQ(refusal(request(openings[2], 4 * small_page)), ErrorCode::out_of_range);
  EXPECT_EQ(refusal(request(openings[2], 0)), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(request(openings[2], std::numeric_limits<std::int64_t>::max())), ErrorCode::out_of_range);
  TextRequest unknown = request(openings[2], 1);
  unknown.prompt.push_back(-1);
  EXPECT_EQ(refusal(unknown), ErrorCode::invalid_argument);
  EXPECT_FALSE(service_->submit(request(openings[2], 1), nullptr).ok()) << "nobody listens";
  TextRequest hot = request(openings[2], 1);
  hot.sampling.temperature = -1;
  EXPECT_EQ(refusal(hot), ErrorCode::invalid_argument);
  for (int i = 0; i < 2; ++i) submit(request(openings[2], 2), std::make_shared<Heard>());
  EXPECT_EQ(refusal(request(openings[2], 2)), ErrorCode::would_block);
  run_all();
  submit(request(openings[2], 2), listener);
  run_all();
  EXPECT_EQ(listener->ended, GenerationEnd::token_limit);
}

TEST_F(ServiceTurnsTest, WhoFillsTheQueueLeavesPlacesForOthers) {
  serve(1, 0, {.queue = 4});
  TextRequest asked = request(openings[2], 1);
  const auto fill = [&](std::int64_t asker) {
    asked.asker = asker;
    int count = 0;
    while (service_->submit(asked, std::make_shared<Heard>()).ok()) ++count;
    return count;
  };
  EXPECT_EQ(fill(7), 4);
  EXPECT_EQ(fill(8), 2);
  EXPECT_EQ(service_->counts().waiting, 6);
  run_all();
  EXPECT_EQ(fill(8), 4);
  run_all();
}

// A place for each of the rows of a pass, but for those that prompts have at the least.
TEST_F(ServiceTurnsTest, NoMoreRunThanCanAllGenerateInAPass) {
  serve(80);
  TextRequest asked = request(openings[2], 6);
  asked.prompt.resize(1);
  asked.ignores_end = true;
  std::vector<HeardListener> listeners;
  for (int i = 0; i < 80; ++i) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
  std::int64_t most = 0;
  std::vector<std::size_t> told(listeners.size());
  while (service_->step()) {
    most = std::max(most, service_->counts().running);
    for (std::size_t i = 0; i < listeners.size(); ++i) {
      EXPECT_TRUE(told[i] == 0 || listeners[i]->ended || listeners[i]->tokens.size() == told[i] + 1) << i;
      told[i] = listeners[i]->tokens.size();
    }
  }
  EXPECT_EQ(most, 64 - 16);
  for (const HeardListener& listener : listeners) EXPECT_EQ(listener->ended, GenerationEnd::token_limit);
}

// 8's turn comes before the second of 7, which arrived before it and begins alike.
TEST_F(ServiceTurnsTest, NobodyWaitsForOneWhoseTurnComesLater) {
  serve(1);
  struct Ending : Heard {
    Ending(std::vector<int>& all, int own) : order(all), name(own) {}
    void on_end(const GenerationEnding& ending) override {
      Heard::on_end(ending);
      order.push_back(name);
    }
    std::vector<int>& order;
    int name;
  };
  std::vector<int> order;
  TextRequest first = request(openings[1], 2), asked = request(openings[4], 2);
  first.asker = asked.asker = 7;
  submit(first, std::make_shared<Ending>(order, 0));
  submit(asked, std::make_shared<Ending>(order, 1));
  asked.asker = 8;
  submit(asked, std::make_shared<Ending>(order, 2));
  run_all();
  EXPECT_EQ(order, (std::vector<int>{0, 2, 1}));
}

TEST_F(ServiceTurnsTest, LongPromptsThatWaitAreAsManyAsFillTheCacheAFewTimes) {
  serve(1, 4, {.queue_in_caches = 1.5});
  TextRequest longest = request(openings[2], 1);
  longest.prompt.resize(3 * small_page, longest.prompt.back());
  submit(longest, std::make_shared<Heard>());
  submit(longest, std::make_shared<Heard>());
  const Result<std::int64_t> third = service_->submit(longest, std::make_shared<Heard>());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code(), ErrorCode::would_block);
  run_all();
  for (int round = 0; round < 3; ++round) {  // what has ended waits no more
    submit(longest, std::make_shared<Heard>());
    service_->cancel(submit(longest, std::make_shared<Heard>()));
    run_all();
  }
}

}  // namespace
}  // namespace ingot
