#include "engine/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/random.h"
#include "engine/golden_model.h"
#include "engine/service_fixture.h"

namespace ingot {
namespace {

TEST_F(ServiceTest, ManyAtOnceAreToldWhatEachIsToldAlone) {
  std::vector<TextRequest> requests;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 8; ++i) {
    TextRequest asked = request(openings[i % std::size(openings)], 10 + 12 * static_cast<std::int64_t>(i % 4));
    if (i % 3 == 1) asked.sampling = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = i};
    asked.ignores_end = true;
    expected.push_back(alone(asked));
    requests.push_back(std::move(asked));
  }
  // With room for all; in turns; and with so few pages that some have to go and come again.
  for (const auto& [sequences, pages] : std::vector<std::pair<int, std::int64_t>>{{8, 0}, {3, 0}, {6, 12}}) {
    serve(sequences, pages);
    std::vector<HeardListener> listeners;
    for (const TextRequest& asked : requests) {
      submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
      service_->step();
    }
    run_all();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(listeners[i]->text, expected[i]) << "request " << i << " of " << sequences << " at once";
      EXPECT_EQ(listeners[i]->ended, GenerationEnd::token_limit) << listeners[i]->reason;
    }
    EXPECT_EQ(pages > 0, service_->counts().preemptions > 0);
  }
}

TEST_F(ServiceTest, WhoAsksTheSameComputesWhatDiffers) {
  serve(8);
  std::vector<HeardListener> listeners;
  const TextRequest asked = request(openings[4], 4);
  for (int i = 0; i < 6; ++i) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
  run_all();
  const auto prompt = static_cast<std::int64_t>(asked.prompt.size());
  const std::int64_t shared = (prompt - 1) / small_page * small_page;
  ASSERT_GT(shared, 0);
  EXPECT_EQ(service_->counts().prompt_rows, prompt + 5 * (prompt - shared));
  EXPECT_EQ(listeners[0]->counts.cached, 0);
  EXPECT_EQ(listeners[5]->counts.cached, shared);
  for (const HeardListener& listener : listeners) EXPECT_EQ(listener->text, listeners[0]->text);
}

// Whoever goes leaves what others use where it is: with room for a few answers beside the one prompt, all are given.
TEST_F(ServiceTest, ManyAnswersToOnePromptFitWhereThePromptIsShared) {
  const TextRequest asked = [&] {
    TextRequest longest = request(openings[4], 40);
    while (longest.prompt.size() < 7 * small_page) longest.prompt.push_back(longest.prompt.back());
    longest.ignores_end = true;
    return longest;
  }();
  const std::string expected = alone(asked);
  for (const std::int64_t pages : {13, 21}) {
    serve(8, pages, {.queue_in_caches = 8});
    std::vector<HeardListener> listeners;
    for (int i = 0; i < 8; ++i) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
    run_all();
    for (const HeardListener& listener : listeners) {
      EXPECT_EQ(listener->ended, GenerationEnd::token_limit) << pages << " pages: " << listener->reason;
      EXPECT_EQ(listener->text, expected);
    }
  }
}

TEST_F(ServiceTest, BeforeTheLeastTokensNothingEndsIt) {
  serve(2);
  const HeardListener listener = std::make_shared<Heard>();
  TextRequest asked = request(openings[0], 200);
  asked.least_tokens = 190;
  submit(asked, listener);
  run_all();
  EXPECT_GE(listener->tokens.size(), 190u);
  const std::span<const TokenId> ends = tokenizer().description().end_of_generation;
  for (const std::int32_t token : listener->tokens) EXPECT_EQ(std::ranges::count(ends, token), 0);
}

TEST_F(ServiceTest, AFollowingTurnComputesWhatIsNew) {
  serve(2);
  const HeardListener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  submit(request(openings[0], 40), first);
  run_all();
  TextRequest next = request(openings[0], 4);
  next.prompt.insert(next.prompt.end(), first->tokens.begin(), first->tokens.end());
  const auto length = static_cast<std::int64_t>(next.prompt.size());
  submit(next, second);
  run_all();
  EXPECT_GE(second->counts.cached, length - 1 - small_page);
}

// Neither what was computed, nor by waiting for it while it is.
TEST_F(ServiceTest, OthersDoNotShareWithAnotherSalt) {
  serve(2);
  const HeardListener together = std::make_shared<Heard>(), later = std::make_shared<Heard>();
  TextRequest asked = request(openings[0], 2);
  asked.prompt.resize(small_page + 1);
  submit(asked, std::make_shared<Heard>());
  asked.salt = 1;
  submit(asked, together);
  service_->step();
  EXPECT_EQ(service_->counts().running, 2) << "one waits for another's beginning";
  run_all();
  asked.salt = 2;
  submit(asked, later);
  run_all();
  EXPECT_EQ(together->counts.cached, 0);
  EXPECT_EQ(later->counts.cached, 0);
}

// Nobody makes another wait by a first token that makes up for the difference of their salts.
TEST_F(ServiceTest, NoTokenMakesUpForASalt) {
  serve(2);
  TextRequest asked = request(openings[0], 2);
  asked.prompt.resize(small_page + 1);
  asked.prompt[0] = 40;
  asked.salt = 1;
  submit(asked, std::make_shared<Heard>());
  asked.prompt[0] = 40 ^ 3;
  asked.salt = 2;
  submit(asked, std::make_shared<Heard>());
  service_->step();
  EXPECT_EQ(service_->counts().running, 2);
  run_all();
}

TEST_F(ServiceTest, EndsWhereTheModelAStopOrItsCallerSays) {
  serve(4);
  TextRequest stopped = request(openings[0], 100);
  stopped.stops = {"castle", "attic"};
  const HeardListener model = std::make_shared<Heard>(), stop = std::make_shared<Heard>(),
                      gone = std::make_shared<Heard>(), late = std::make_shared<Heard>();
  submit(request(openings[0], 200), model);
  submit(stopped, stop);
  const std::int64_t number = submit(request(openings[1], 100), gone);
  TextRequest in_time = request(openings[1], 100);
  in_time.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  submit(in_time, late);
  for (int pass = 0; pass < 5; ++pass) service_->step();
  service_->cancel(number);
  const std::size_t heard = gone->tokens.size();
  run_all();
  EXPECT_EQ(model->ended, GenerationEnd::model);
  EXPECT_TRUE(model->text.ends_with("gentle calf.\n")) << model->text;
  EXPECT_EQ(stop->ended, GenerationEnd::stop);
  EXPECT_EQ(stop->text, " Ralf lived in a draughty ");
  EXPECT_EQ(stop->stop, "attic");
  EXPECT_EQ(model->stop, "");
  EXPECT_EQ(gone->ended, GenerationEnd::cancelled);
  EXPECT_EQ(gone->tokens.size(), heard);
  EXPECT_EQ(late->ended, GenerationEnd::deadline);
  EXPECT_TRUE(late->tokens.empty());
}

TEST_F(ServiceTest, WhatIsLeftWhenItGoesIsCancelled) {
  serve(1);
  const HeardListener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  submit(request(openings[0], 100), first);
  service_->step();
  submit(request(openings[1], 100), second);
  service_.reset();
  EXPECT_EQ(first->ended, GenerationEnd::cancelled);
  EXPECT_EQ(second->ended, GenerationEnd::cancelled);
  EXPECT_EQ(session_->sequences().whole().free_pages(), all_pages_);
}

TEST_F(ServiceTest, CountsWhatItDidAndWhatIsThere) {
  serve(2);
  const ServiceCounts before = service_->counts();
  EXPECT_EQ(before.pages, all_pages_);
  EXPECT_EQ(before.pages_in_use, 0);
  std::vector<HeardListener> listeners;
  const TextRequest asked = request(openings[4], 6);
  for (int i = 0; i < 3; ++i) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
  EXPECT_EQ(service_->counts().waiting, 3);
  EXPECT_EQ(service_->counts().running, 0);
  while (service_->counts().running < 2) ASSERT_TRUE(service_->step());
  EXPECT_EQ(service_->counts().waiting, 1);
  EXPECT_GT(service_->counts().pages_in_use, 0);
  run_all();
  const ServiceCounts counts = service_->counts();
  const auto prompt = static_cast<std::int64_t>(asked.prompt.size());
  EXPECT_EQ(counts.prompt_tokens, 3 * prompt);
  EXPECT_EQ(counts.cached_tokens, listeners[1]->counts.cached + listeners[2]->counts.cached);
  EXPECT_GT(counts.cached_tokens, 0);
  EXPECT_EQ(counts.generated_tokens, 3 * 6);
  EXPECT_EQ(counts.prompt_rows, counts.prompt_tokens - counts.cached_tokens);
  EXPECT_EQ(counts.decoding_rows, 3 * 5);  // the last token of each is nobody's past
  EXPECT_GT(counts.decoding_passes, 0);
  EXPECT_GT(counts.prompt_passes, 0);
  EXPECT_GT(counts.mixed_passes, 0);
  EXPECT_EQ(counts.running, 0);
  EXPECT_EQ(counts.waiting, 0);
  EXPECT_EQ(counts.pages_in_use, 0);
}

// As long as a pass and what follows from it take, the next ones are kept short: here there is no time for more rows of
// prompts than the least, though a model as small as this would read all of them at once.
TEST_F(ServiceTest, WhatIsToldBelongsToAPassesTime) {
  struct Slow : Heard {
    void on_token(const ChosenToken& chosen) override {
      Heard::on_token(chosen);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  model_ = Model::open(golden_folder("llama")).value();
  serve(9, 0, {.pass_seconds = 0.005});
  const TextRequest asked = {.prompt = std::vector<std::int32_t>(4, 1), .most_tokens = 100, .ignores_end = true};
  const HeardListener slow = std::make_shared<Slow>(), read = std::make_shared<Heard>();
  std::vector<std::int64_t> numbers = {submit(asked, slow)};
  for (int i = 0; i < 7; ++i) numbers.push_back(submit(asked, std::make_shared<Heard>()));
  while (slow->tokens.size() < 4) ASSERT_TRUE(service_->step());
  const std::int64_t before = service_->counts().mixed_passes;
  submit({.prompt = std::vector<std::int32_t>(96, 2), .most_tokens = 1}, read);
  while (!read->ended) ASSERT_TRUE(service_->step());
  EXPECT_EQ(service_->counts().mixed_passes - before, 96 / 16);
  for (const std::int64_t number : numbers) service_->cancel(number);
  run_all();
}

// Each phase is measured by a clock, so that all that can be said is which ones there were.
TEST_F(ServiceTest, TellsHowLongEachPhaseTook) {
  serve(1);
  const HeardListener whole = std::make_shared<Heard>(), read = std::make_shared<Heard>(),
                      waited = std::make_shared<Heard>();
  submit(request(openings[0], 5), whole);
  run_all();
  EXPECT_GT(whole->times.waiting, 0);
  EXPECT_GT(whole->times.prompt, 0);
  EXPECT_GT(whole->times.generation, 0);
  EXPECT_EQ(whole->generation_times.front(), 0);
  EXPECT_EQ(std::ranges::adjacent_find(whole->generation_times, std::ranges::greater_equal()),
            whole->generation_times.end());
  TextRequest longer = request(openings[1], 5);
  while (longer.prompt.size() < 100) longer.prompt.push_back(longer.prompt.back());  // more than a pass takes
  const std::int64_t reading = submit(longer, read);
  const std::int64_t waiting = submit(request(openings[1], 5), waited);
  service_->cancel(waiting);
  service_->step();
  ASSERT_TRUE(read->tokens.empty());
  service_->cancel(reading);
  run_all();
  EXPECT_GT(read->times.prompt, 0);
  EXPECT_EQ(read->times.generation, 0);
  EXPECT_GT(waited->times.waiting, 0);
  EXPECT_EQ(waited->times.prompt, 0);
}

TEST_F(ServiceTest, AModelThatMakesEmbeddingsIsRefused) {
  const auto bert = golden_session("bert", {.context = 16});
  ASSERT_NE(bert, nullptr);
  const auto refused = Service::create(*bert, tokenizer(), bell_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
}

// Requests and cancellations from several threads, while one runs the passes.
TEST_F(ServiceTest, TakesRequestsFromAnyThread) {
  serve(4, 40);
  std::vector<std::vector<HeardListener>> listeners(3);
  std::vector<std::thread> threads;
  std::atomic<int> open = 3;
  for (std::size_t thread = 0; thread < listeners.size(); ++thread) {
    threads.emplace_back([&, thread] {
      RandomNumbers random(thread);
      for (int i = 0; i < 8; ++i) {
        TextRequest asked = request(openings[random.below(std::size(openings))], 1 + i);
        asked.asker = static_cast<std::int64_t>(thread);
        const std::int64_t number = submit(std::move(asked), listeners[thread].emplace_back(std::make_shared<Heard>()));
        if (random.below(3) == 0) service_->cancel(number);
        if (random.below(3) == 0) {
          service_->pause(number);
          EXPECT_GE(service_->counts().pages, service_->counts().pages_in_use);
          service_->resume(number);
        }
      }
      --open;
      bell_.ring();
    });
  }
  run_while_open(*service_, bell_, open);
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<HeardListener>& of_thread : listeners) {
    for (const HeardListener& listener : of_thread) {
      ASSERT_TRUE(listener->ended);
      EXPECT_NE(*listener->ended, GenerationEnd::failed) << listener->reason;
    }
  }
  EXPECT_EQ(session_->sequences().whole().free_pages(), all_pages_);
}

TEST_F(ServiceTest, HowFarAPromptIsReadIsToldWhereItIsWanted) {
  std::string text;
  for (int i = 0; i < 18; ++i) text += openings[0];
  TextRequest asked = request(text, 2);
  const std::int64_t length = std::ssize(asked.prompt);
  ASSERT_GT(length, 2 * 64);
  asked.wants_progress = true;
  // In a cache for one of them: whoever goes and comes again is told of nothing twice.
  for (const std::int64_t pages : {std::int64_t{0}, length / small_page + 4}) {
    serve(2, pages);
    const HeardListener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
    const HeardListener unasked = std::make_shared<Heard>();
    submit(asked, first);
    submit(request(openings[1], 20), unasked);
    run_all();
    submit(asked, second);
    run_all();
    EXPECT_EQ(first->progress.front(), 0);
    EXPECT_GT(std::ssize(first->progress), 2);
    EXPECT_EQ(second->progress.front(), second->counts.cached);
    EXPECT_TRUE(pages > 0 || second->counts.cached > 0);
    for (const HeardListener& listener : {first, second}) {
      EXPECT_EQ(listener->progress.back(), length);
      EXPECT_TRUE(std::ranges::is_sorted(listener->progress, std::less_equal<>()));
      EXPECT_EQ(listener->ended, GenerationEnd::token_limit);
    }
    EXPECT_TRUE(unasked->progress.empty());
  }
}

}  // namespace
}  // namespace ingot
