// What requests are told of probabilities, against a session of its own and softmax in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/service_fixture.h"

namespace ingot {
namespace {

class ServiceProbabilitiesTest : public ServiceTest {
 protected:
  // Logarithms of the probabilities of what follows each token: [tokens][vocabulary].
  std::vector<std::vector<double>> distributions(std::span<const std::int32_t> tokens) const {
    const std::unique_ptr<Session> session = new_session(1);
    const int sequence = session->sequences().add().value();
    const View<const float> logits = session->forward({sequence, tokens, Wanted::all}).value();
    std::vector<std::vector<double>> rows;
    for (std::int64_t row = 0; row < logits.size(0); ++row) {
      double sum = 0;
      for (std::int64_t token = 0; token < logits.size(1); ++token) sum += std::exp(double{logits(row, token)});
      rows.emplace_back();
      for (std::int64_t token = 0; token < logits.size(1); ++token) {
        rows.back().push_back(logits(row, token) - std::log(sum));
      }
    }
    return rows;
  }

  static void expect_score(const TokenScore& found, std::int32_t token, const std::vector<double>& distribution,
                           std::size_t most_likely) {
    EXPECT_NEAR(found.log_probability, distribution[static_cast<std::size_t>(token)], 1e-5);
    std::vector<double> sorted = distribution;
    std::ranges::sort(sorted, std::greater<>());
    ASSERT_EQ(found.most_likely.size(), most_likely);
    for (std::size_t i = 0; i < most_likely; ++i) {
      EXPECT_NEAR(found.most_likely[i].log_probability, sorted[i], 1e-5);
      EXPECT_NEAR(distribution[static_cast<std::size_t>(found.most_likely[i].token)], sorted[i], 1e-5);
    }
  }

  // Of a request's tokens, and of its prompt's where it asked for them.
  void expect_scores(const TextRequest& asked, const Heard& heard) const {
    std::vector<std::int32_t> tokens = asked.prompt;
    tokens.insert(tokens.end(), heard.tokens.begin(), heard.tokens.end());
    const std::vector<std::vector<double>> expected = distributions(tokens);
    const auto count = static_cast<std::size_t>(asked.most_likely.value_or(0));
    const std::size_t prompt = asked.prompt.size();
    for (std::size_t i = 0; i < heard.tokens.size(); ++i) {
      expect_score(heard.scores[i], heard.tokens[i], expected[prompt + i - 1], count);
    }
    if (!asked.wants_prompt_probabilities) return;
    ASSERT_EQ(heard.prompt, asked.prompt);
    EXPECT_TRUE(std::isnan(heard.prompt_scores[0].log_probability));
    EXPECT_TRUE(heard.prompt_scores[0].most_likely.empty());
    for (std::size_t i = 1; i < prompt; ++i) {
      expect_score(heard.prompt_scores[i], asked.prompt[i], expected[i - 1], count);
    }
  }

  // Longer than two passes take, the first of 16 tokens and one of 64, and with a beginning that others know.
  TextRequest long_request(std::int64_t tokens) const {
    TextRequest asked = request(openings[4], tokens);
    const std::vector<std::int32_t> text = request(openings[1], 1).prompt;
    while (asked.prompt.size() < 81) asked.prompt.insert(asked.prompt.end(), text.begin(), text.end());
    asked.most_likely = 3;
    asked.wants_prompt_probabilities = true;
    asked.ignores_end = true;
    return asked;
  }
};

TEST_F(ServiceProbabilitiesTest, AreThoseOfTheModelWhateverIsDrawn) {
  serve(4);
  std::vector<TextRequest> requests(4, request(openings[0], 12));
  requests[0].most_likely = 20;
  requests[1].most_likely = 0;
  requests[1].sampling = {.temperature = 1.5, .top_k = 40, .repetition = 1.3, .seed = 3};
  requests[2].most_likely = 2;
  requests[2].biases = {{requests[2].prompt[3], 100}};
  std::vector<HeardListener> listeners;
  for (const TextRequest& asked : requests) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
  run_all();
  for (std::size_t i = 0; i < 3; ++i) expect_scores(requests[i], *listeners[i]);
  // A bias that outweighs all others is followed, and the probabilities are told without it.
  for (const std::int32_t token : listeners[2]->tokens) EXPECT_EQ(token, requests[2].prompt[3]);
  EXPECT_LT(listeners[2]->scores[0].log_probability, -1);
  for (const TokenScore& score : listeners[3]->scores) EXPECT_TRUE(score.most_likely.empty());
}

TEST_F(ServiceProbabilitiesTest, OfThePromptAreToldBeforeAllElse) {
  for (const std::int64_t tokens : {0, 5}) {
    serve(3);
    const HeardListener first = std::make_shared<Heard>(), second = std::make_shared<Heard>(),
                        beside = std::make_shared<Heard>();
    const TextRequest asked = long_request(tokens);
    submit(request(openings[4], 10), beside);
    submit(asked, first);
    run_all();
    expect_scores(asked, *first);
    EXPECT_EQ(first->ended, GenerationEnd::token_limit);
    EXPECT_EQ(first->tokens.size(), static_cast<std::size_t>(tokens));
    // What is known of it is computed all the same.
    submit(asked, second);
    run_all();
    EXPECT_EQ(second->counts.cached, 0);
    for (std::size_t i = 1; i < first->prompt.size(); ++i) {
      EXPECT_EQ(second->prompt_scores[i].log_probability, first->prompt_scores[i].log_probability);
    }
  }
}

TEST_F(ServiceProbabilitiesTest, OfPromptsOfOneToken) {
  serve(2);
  TextRequest asked = request(openings[0], 0);
  asked.prompt.resize(1);
  asked.wants_prompt_probabilities = true;
  const HeardListener listener = std::make_shared<Heard>();
  submit(asked, listener);
  run_all();
  expect_scores(asked, *listener);
  EXPECT_EQ(listener->ended, GenerationEnd::token_limit);
}

// It has nothing to wait for: what another computes of its beginning it computes as well.
TEST_F(ServiceProbabilitiesTest, OfAPromptWaitForNobody) {
  serve(2);
  const TextRequest asked = long_request(1);
  TextRequest beginning = request(openings[4], 1);
  beginning.prompt.resize(small_page + 2);  // less than a pass reads
  submit(beginning, std::make_shared<Heard>());
  const HeardListener listener = std::make_shared<Heard>();
  submit(asked, listener);
  service_->step();
  // The first is through with its one token, and the other has begun.
  EXPECT_EQ(service_->counts().running, 1);
  EXPECT_GT(service_->counts().prompt_rows, std::ssize(beginning.prompt));
  run_all();
  EXPECT_EQ(listener->prompt, asked.prompt);
}

// Whoever counts on one more token than the prompt has finds it, whatever it is.
TEST_F(ServiceProbabilitiesTest, OfTheTokenThatEndsIt) {
  serve(3);
  const HeardListener free = std::make_shared<Heard>(), stopped = std::make_shared<Heard>(),
                      silent = std::make_shared<Heard>();
  TextRequest asked = request(openings[0], 4);
  asked.most_likely = 2;
  submit(asked, free);
  run_all();
  EXPECT_EQ(free->last, std::nullopt);
  asked.stop_tokens = {free->tokens[0]};
  submit(asked, stopped);
  asked.most_likely.reset();
  submit(asked, silent);
  run_all();
  EXPECT_EQ(stopped->ended, GenerationEnd::stop);
  EXPECT_EQ(stopped->counts.generated, 0);
  EXPECT_EQ(stopped->last, free->tokens[0]);
  EXPECT_EQ(stopped->last_score.log_probability, free->scores[0].log_probability);
  EXPECT_EQ(stopped->last_score.most_likely, free->scores[0].most_likely);
  EXPECT_EQ(silent->last, std::nullopt);
}

// Others with the same beginning wait for it, and share what it computed; it waits for nobody.
TEST_F(ServiceProbabilitiesTest, OthersShareWhatWasComputedForThem) {
  serve(3);
  const TextRequest asked = long_request(2);
  TextRequest plain = asked;
  plain.wants_prompt_probabilities = false;
  const HeardListener before = std::make_shared<Heard>(), first = std::make_shared<Heard>(),
                      second = std::make_shared<Heard>();
  submit(plain, before);
  submit(asked, first);
  submit(plain, second);
  run_all();
  EXPECT_EQ(first->counts.cached, 0);
  EXPECT_GT(second->counts.cached, 0);
  EXPECT_EQ(second->text, first->text);
  expect_scores(asked, *first);
  for (std::size_t i = 0; i < second->tokens.size(); ++i) {
    EXPECT_EQ(second->scores[i].log_probability, first->scores[i].log_probability);
  }
}

// In a cache with room for one: the first goes when half of its prompt is read, and the second when it generates.
TEST_F(ServiceProbabilitiesTest, SurvivePreemption) {
  const TextRequest asked = long_request(8);
  TextRequest other = asked;
  other.salt = 1;
  serve(2, std::ssize(asked.prompt) / small_page + 2);
  const HeardListener first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  const std::int64_t number = submit(asked, first);
  for (int pass = 0; pass < 2; ++pass) service_->step();
  ASSERT_TRUE(first->prompt.empty());
  service_->pause(number);
  const std::int64_t other_number = submit(other, second);
  while (second->tokens.size() < 5) ASSERT_TRUE(service_->step());
  EXPECT_EQ(service_->counts().preemptions, 1);
  service_->pause(other_number);
  service_->resume(number);
  while (service_->step()) {
  }
  EXPECT_EQ(service_->counts().preemptions, 2);
  service_->resume(other_number);
  run_all();
  expect_scores(asked, *first);
  EXPECT_EQ(second->text, first->text);
  for (const HeardListener& listener : {first, second}) EXPECT_EQ(listener->ended, GenerationEnd::token_limit);
  ASSERT_EQ(second->prompt_scores.size(), first->prompt_scores.size());
  for (std::size_t i = 1; i < first->prompt.size(); ++i) {
    EXPECT_EQ(second->prompt_scores[i].log_probability, first->prompt_scores[i].log_probability);
  }
}

TEST_F(ServiceProbabilitiesTest, FieldsOutOfTheirRangeAreRefused) {
  serve(1);
  const auto code_of = [&](TextRequest asked) {
    const Result<std::int64_t> number = service_->submit(std::move(asked), std::make_shared<Heard>());
    return number.ok() ? std::optional<ErrorCode>() : number.error().code();
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const auto biased = [&](TokenBias bias) {
    TextRequest asked = request(openings[0], 1);
    asked.biases = {bias};
    return asked;
  };
  EXPECT_EQ(code_of(biased({-1, 1})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(biased({1 << 30, 1})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(biased({1, NAN})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(biased({1, infinity})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(biased({1, -infinity})), std::nullopt);
  for (const std::int64_t wrong : {-1, 21}) {
    TextRequest asked = request(openings[0], 1);
    asked.most_likely = wrong;
    EXPECT_EQ(code_of(asked), ErrorCode::invalid_argument);
  }
  run_all();
}

}  // namespace
}  // namespace ingot
