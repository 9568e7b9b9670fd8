#include "engine/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "base/random.h"

namespace ingot {
namespace {

struct Heard : GenerationListener {
  std::vector<std::int32_t> tokens;
  std::string text;
  std::optional<GenerationEnd> ended;
  GenerationCounts counts;
  std::string reason;

  void on_token(const ChosenToken& chosen) override {
    EXPECT_FALSE(ended);
    tokens.push_back(chosen.token);
    text += chosen.text;
  }
  void on_end(const GenerationEnding& ending) override {
    EXPECT_FALSE(ended);
    text += ending.text;
    ended = ending.end;
    counts = ending.counts;
    reason = ending.reason;
  }
};

using Listener = std::shared_ptr<Heard>;

constexpr std::int64_t small_page = 8;

// The model that the program carries. Its sums are those of the references, in which a row does not depend on its
// neighbours: whoever else is served, the words are the same.
class ServiceTest : public testing::Test {
 protected:
  void serve(int sequences, std::int64_t pages = 0, ServiceOptions service = {}) {
    service_.reset();
    session_ = Session::create(model_, {.threads = 2,
                                        .cache = DType::f32,
                                        .context = 256,
                                        .sequences = sequences,
                                        .pages = pages,
                                        .page_length = small_page,
                                        .chunk = 64,
                                        .rewrites = false,
                                        .packing = WeightPacking::never,
                                        .forced = {{"linear.matmul", "reference"},
                                                   {"attention.prefill", "reference"},
                                                   {"attention.decode", "reference"}}})
                   .value();
    all_pages_ = session_->sequences().whole().free_pages();
    service_ = Service::create(*session_, tokenizer(), bell_, service).value();
  }

  const Tokenizer& tokenizer() const { return *model_->tokenizer().value(); }

  TextRequest request(std::string_view prompt, std::int64_t tokens) const {
    return {.prompt = tokenizer().encode(prompt).value(), .most_tokens = tokens};
  }

  std::int64_t submit(TextRequest request, const Listener& listener) {
    request.listener = listener;
    const Result<std::int64_t> number = service_->submit(std::move(request));
    EXPECT_TRUE(number.ok()) << number.error().text();
    return number.ok() ? number.value() : -1;
  }

  void run_all() {
    for (int pass = 0; service_->step(); ++pass) ASSERT_LT(pass, 10'000);
    EXPECT_EQ(session_->sequences().whole().free_pages(), all_pages_);
  }

  // What it says when nobody else is there.
  std::string alone(const TextRequest& asked) {
    const Listener listener = std::make_shared<Heard>();
    serve(1);
    submit(asked, listener);
    run_all();
    return listener->text;
  }

  std::shared_ptr<const Model> model_ = Model::open_default().value();
  std::unique_ptr<Session> session_;
  Bell bell_;
  std::unique_ptr<Service> service_;
  std::int64_t all_pages_ = 0;
};

constexpr std::string_view openings[] = {
    "\nOnce there was a thoughtful cook named Ralf.",
    "\nOnce there was a brave baker named Mia. Mia lived",
    "\nOnce there was",
    "\nOne clear day",
    "\nOnce there was a thoughtful cook named Ralf. Ralf lived in a",
};

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
    std::vector<Listener> listeners;
    for (const TextRequest& asked : requests) {
      submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
      service_->step();
    }
    run_all();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(listeners[i]->text, expected[i]) << "request " << i << " of " << sequences << " at once";
      EXPECT_EQ(listeners[i]->ended, GenerationEnd::token_limit) << listeners[i]->reason;
    }
    EXPECT_TRUE(pages > 0 || service_->counts().preemptions == 0);
  }
}

TEST_F(ServiceTest, WhoAsksTheSameComputesWhatDiffers) {
  serve(8);
  std::vector<Listener> listeners;
  const TextRequest asked = request(openings[4], 4);
  for (int i = 0; i < 6; ++i) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
  run_all();
  const auto prompt = static_cast<std::int64_t>(asked.prompt.size());
  const std::int64_t shared = (prompt - 1) / small_page * small_page;
  ASSERT_GT(shared, 0);
  EXPECT_EQ(service_->counts().prompt_rows, prompt + 5 * (prompt - shared));
  EXPECT_EQ(listeners[0]->counts.cached, 0);
  EXPECT_EQ(listeners[5]->counts.cached, shared);
  for (const Listener& listener : listeners) EXPECT_EQ(listener->text, listeners[0]->text);
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
    serve(8, pages);
    std::vector<Listener> listeners;
    for (int i = 0; i < 8; ++i) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
    run_all();
    for (const Listener& listener : listeners) {
      EXPECT_EQ(listener->ended, GenerationEnd::token_limit) << pages << " pages: " << listener->reason;
      EXPECT_EQ(listener->text, expected);
    }
  }
}

TEST_F(ServiceTest, BeforeTheLeastTokensNothingEndsIt) {
  serve(2);
  const Listener listener = std::make_shared<Heard>();
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
  const Listener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  submit(request(openings[0], 40), first);
  run_all();
  TextRequest next = request(openings[0], 4);
  next.prompt.insert(next.prompt.end(), first->tokens.begin(), first->tokens.end());
  const auto length = static_cast<std::int64_t>(next.prompt.size());
  submit(next, second);
  run_all();
  EXPECT_GE(second->counts.cached, length - 1 - small_page);
}

TEST_F(ServiceTest, OthersDoNotShareWithAnotherSalt) {
  serve(2);
  const Listener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  TextRequest asked = request(openings[0], 2);
  submit(asked, first);
  run_all();
  asked.salt = 1;
  submit(asked, second);
  run_all();
  EXPECT_EQ(second->counts.cached, 0);
}

TEST_F(ServiceTest, EndsWhereTheModelAStopOrItsCallerSays) {
  serve(4);
  TextRequest stopped = request(openings[0], 100);
  stopped.stops = {"attic"};
  const Listener model = std::make_shared<Heard>(), stop = std::make_shared<Heard>(), gone = std::make_shared<Heard>(),
                 late = std::make_shared<Heard>();
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
  EXPECT_EQ(gone->ended, GenerationEnd::cancelled);
  EXPECT_EQ(gone->tokens.size(), heard);
  EXPECT_EQ(late->ended, GenerationEnd::deadline);
  EXPECT_TRUE(late->tokens.empty());
}

TEST_F(ServiceTest, RefusesWhatCanNeverFitAndWhatHasToWaitTooLong) {
  serve(1, 4, {.queue = 2});
  const Listener listener = std::make_shared<Heard>();
  const auto refusal = [&](TextRequest asked) {
    asked.listener = listener;
    const Result<std::int64_t> number = service_->submit(std::move(asked));
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
  EXPECT_FALSE(service_->submit(request(openings[2], 1)).ok()) << "nobody listens";
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

TEST_F(ServiceTest, WhatIsLeftWhenItGoesIsCancelled) {
  serve(1);
  const Listener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  submit(request(openings[0], 100), first);
  service_->step();
  submit(request(openings[1], 100), second);
  service_.reset();
  EXPECT_EQ(first->ended, GenerationEnd::cancelled);
  EXPECT_EQ(second->ended, GenerationEnd::cancelled);
  EXPECT_EQ(session_->sequences().whole().free_pages(), all_pages_);
}

// Requests and cancellations from several threads, while one runs the passes.
TEST_F(ServiceTest, TakesRequestsFromAnyThread) {
  serve(4, 40);
  std::vector<std::vector<Listener>> listeners(3);
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
      }
      --open;
      bell_.ring();
    });
  }
  while (true) {
    const bool was_open = open > 0;
    if (service_->step()) continue;
    if (!was_open) break;
    bell_.wait();
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Listener>& of_thread : listeners) {
    for (const Listener& listener : of_thread) {
      ASSERT_TRUE(listener->ended);
      EXPECT_NE(*listener->ended, GenerationEnd::failed) << listener->reason;
    }
  }
  EXPECT_EQ(session_->sequences().whole().free_pages(), all_pages_);
}

}  // namespace
}  // namespace ingot
