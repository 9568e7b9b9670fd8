// Requests that are held to a grammar, among others.
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "engine/service_fixture.h"
#include "model/grammar/constraints.h"

namespace ingot {
namespace {

using grammar::GrammarSource;

constexpr std::string_view person = R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 12},
  "age": {"type": "integer", "minimum": 0, "maximum": 150}}, "required": ["name", "age"],
  "additionalProperties": false})";

class ServiceHeldTest : public ServiceTest {
 protected:
  TextRequest held(const GrammarSource& source, std::int64_t tokens = 100, const std::string& trigger = {}) {
    TextRequest asked = request(openings[0], tokens);
    asked.constraint = constraints_.of(source, {.text = trigger}).value();
    return asked;
  }
  static GrammarSource choices(std::vector<std::string> texts) {
    return {.kind = GrammarSource::Kind::choices, .choices = std::move(texts)};
  }
  static GrammarSource gbnf(std::string text) { return {.kind = GrammarSource::Kind::gbnf, .text = std::move(text)}; }
  static GrammarSource schema(std::string_view text) {
    return {.text = std::string(text), .json = {.most_white_space = 1}};
  }
  HeardListener ask(const TextRequest& asked) {
    const HeardListener listener = std::make_shared<Heard>();
    submit(asked, listener);
    return listener;
  }
  static bool satisfies(const TextRequest& asked, std::string_view text) {
    grammar::GrammarState state(asked.constraint->grammar());
    return state.accept(text) && state.can_end();
  }

  grammar::Constraints constraints_{tokenizer()};
};

TEST_F(ServiceHeldTest, EveryWayOfDrawingKeepsToTheGrammar) {
  const std::vector<SamplerOptions> ways = {
      {},
      {.temperature = 2, .seed = 3},
      {.temperature = 1, .top_k = 3, .seed = 4},
      {.temperature = 1, .top_p = 0.5, .seed = 5},
      {.temperature = 1.5, .min_p = 0.2, .seed = 6},
      {.temperature = 1, .repetition = 1.5, .presence = 1, .frequency = 1, .seed = 7},
  };
  serve(8);
  const TextRequest free = request(openings[1], 30);
  std::vector<HeardListener> listeners;
  for (const SamplerOptions& way : ways) {
    TextRequest asked = held(schema(person), 150);
    asked.sampling = way;
    listeners.push_back(ask(asked));
  }
  const HeardListener beside = ask(free);
  run_all();
  for (const HeardListener& listener : listeners) {
    EXPECT_TRUE(satisfies(held(schema(person)), listener->text)) << listener->text;
    EXPECT_EQ(listener->ended, GenerationEnd::model) << listener->reason;
  }
  EXPECT_EQ(beside->text, alone(free));
}

TEST_F(ServiceHeldTest, ItEndsWithTheGrammarAndWithoutAPassForTheEnd) {
  serve(1);
  TextRequest asked = held(choices({" lived"}));
  asked.least_tokens = 20;
  asked.ignores_end = true;
  const HeardListener listener = ask(asked);
  run_all();
  EXPECT_EQ(listener->text, " lived");
  EXPECT_EQ(listener->ended, GenerationEnd::model);
  EXPECT_EQ(service_->counts().decoding_passes + service_->counts().prompt_passes, listener->counts.generated);
}

TEST_F(ServiceHeldTest, WhereTheModelMayNotEndItGoesOnAsLongAsTheGrammarDoes) {
  serve(1);
  TextRequest asked = held(gbnf(R"(root ::= "a"{1,30})"));
  asked.ignores_end = true;
  const HeardListener listener = ask(asked);
  run_all();
  EXPECT_EQ(listener->text, std::string(30, 'a'));
  EXPECT_EQ(listener->ended, GenerationEnd::model);
}

TEST_F(ServiceHeldTest, WhatIsCutByLengthIsTheBeginningOfAText) {
  serve(1);
  const TextRequest asked = held(schema(person), 4);
  const HeardListener listener = ask(asked);
  run_all();
  EXPECT_EQ(listener->ended, GenerationEnd::token_limit);
  EXPECT_EQ(listener->counts.generated, 4);
  EXPECT_TRUE(grammar::GrammarState(asked.constraint->grammar()).accept(listener->text)) << listener->text;
}

TEST_F(ServiceHeldTest, EachChoiceHasATextOfItsOwn) {
  serve(4);
  TextRequest asked = held(choices({" red", " green", " blue", " yellow and red", " green and blue"}));
  asked.sampling = {.temperature = 20, .seed = 1};
  TextChoices all{asked, {}};
  std::vector<HeardListener> listeners;
  for (int i = 0; i < 4; ++i) all.listeners.push_back(listeners.emplace_back(std::make_shared<Heard>()));
  std::vector<TextChoices> requests;
  requests.push_back(std::move(all));
  ASSERT_TRUE(service_->submit(std::move(requests)).ok());
  run_all();
  std::set<std::string> texts;
  for (const HeardListener& listener : listeners) {
    EXPECT_TRUE(satisfies(asked, listener->text)) << listener->text;
    texts.insert(listener->text);
  }
  EXPECT_GT(texts.size(), 1u);
}

TEST_F(ServiceHeldTest, WhoHasToGoAndComeAgainSaysTheSame) {
  std::vector<TextRequest> requests;
  std::vector<std::string> expected;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    TextRequest asked = held(gbnf(R"(root ::= (" " [a-z]{1,9}){30,40} ".")"), 90);
    asked.sampling = {.temperature = 1, .seed = seed};
    expected.push_back(alone(asked));
    requests.push_back(std::move(asked));
  }
  serve(6, 14);
  std::vector<HeardListener> listeners;
  for (const TextRequest& asked : requests) listeners.push_back(ask(asked));
  run_all();
  for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(listeners[i]->text, expected[i]);
  EXPECT_GT(service_->counts().preemptions, 0);
}

TEST_F(ServiceHeldTest, NobodyElseFailsWhereNoTokenIsLeft) {
  serve(2);
  TextRequest asked = held(choices({"yes"}));
  for (std::int32_t token = 0; token < tokenizer().vocabulary_size(); ++token) {
    if (tokenizer().piece(token).starts_with('y')) {
      asked.biases.push_back({token, -std::numeric_limits<float>::infinity()});
    }
  }
  const TextRequest free = request(openings[1], 20);
  const HeardListener failed = ask(asked);
  const HeardListener beside = ask(free);
  run_all();
  EXPECT_EQ(failed->ended, GenerationEnd::failed);
  EXPECT_NE(failed->reason.find("the grammar allows"), std::string::npos) << failed->reason;
  EXPECT_EQ(beside->text, alone(free));
}

TEST_F(ServiceHeldTest, ATextIsFreeUntilTheTrigger) {
  const std::string free = alone(request(openings[0], 20));
  const std::size_t place = free.find("lived");
  ASSERT_NE(place, std::string::npos) << free;
  serve(1);
  const HeardListener listener = ask(held(choices({"lived on the moon!"}), 40, "lived"));
  run_all();
  EXPECT_EQ(listener->text, free.substr(0, place) + "lived on the moon!");
  EXPECT_EQ(listener->ended, GenerationEnd::model);
}

TEST_F(ServiceHeldTest, ProbabilitiesAreThoseOfTheModelWhateverTheGrammarForbids) {
  serve(2);
  TextRequest free = request(openings[0], 1);
  free.most_likely = 3;
  TextRequest asked = held(choices({"Zebra"}), 1);
  asked.most_likely = 3;
  const HeardListener first = ask(free);
  const HeardListener second = ask(asked);
  run_all();
  ASSERT_EQ(first->scores.size(), 1u);
  ASSERT_EQ(second->scores.size(), 1u);
  EXPECT_EQ(second->scores[0].most_likely, first->scores[0].most_likely);
  EXPECT_LT(second->scores[0].log_probability, first->scores[0].most_likely.back().log_probability);
}

// The thread of masks is held up: everybody else goes on, and whoever waits is served when it goes on.
class ServiceSlowMaskTest : public ServiceHeldTest {
 protected:
  void SetUp() override {
    auto masks = std::make_shared<MaskThread>();
    masks->run([this] { go_.get_future().wait(); });
    serve(3, 0, {.masks = std::move(masks)});
  }
  void run_others(const HeardListener& others) {
    for (int pass = 0; !others->ended && pass < 1000; ++pass) service_->step();
  }

  std::promise<void> go_;
};

TEST_F(ServiceSlowMaskTest, NobodyWaitsForAnothersMask) {
  const TextRequest free = request(openings[1], 20);
  const HeardListener slow = ask(held(schema(person), 150));
  const HeardListener beside = ask(free);
  run_others(beside);
  EXPECT_EQ(beside->ended, GenerationEnd::token_limit);
  EXPECT_EQ(std::ssize(slow->tokens), service_->counts().forced_tokens);  // for which no mask is needed
  EXPECT_FALSE(slow->ended);
  EXPECT_TRUE(service_->awaits_masks());
  EXPECT_FALSE(service_->step());
  go_.set_value();
  run_all();
  EXPECT_EQ(slow->ended, GenerationEnd::model) << slow->reason;
  EXPECT_EQ(slow->text, alone(held(schema(person), 150)));
}

TEST_F(ServiceSlowMaskTest, WhoWaitsForAMaskCanBeCancelledAndPaused) {
  const HeardListener cancelled = ask(held(schema(person)));
  const HeardListener paused = ask(held(schema(person), 150));
  const HeardListener beside = ask(request(openings[1], 20));
  run_others(beside);
  service_->cancel(0);
  service_->pause(1);
  service_->step();
  EXPECT_EQ(cancelled->ended, GenerationEnd::cancelled);
  EXPECT_FALSE(service_->awaits_masks());
  const std::size_t told = paused->tokens.size();
  go_.set_value();
  bell_.wait();
  while (service_->step()) {
  }
  EXPECT_EQ(paused->tokens.size(), told);
  service_->resume(1);
  run_all();
  EXPECT_EQ(paused->ended, GenerationEnd::model) << paused->reason;
}

}  // namespace
}  // namespace ingot
