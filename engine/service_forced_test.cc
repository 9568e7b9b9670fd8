// Tokens that a grammar forces: they are the tokenizer's, take no passes of their own, and what is free is chosen as if
// they had been read.
#include <gtest/gtest.h>

#include <deque>
#include <future>

#include "engine/service_fixture.h"
#include "model/grammar/constraints.h"
#include "model/grammar/text_constraint.h"

namespace ingot {
namespace {

using grammar::GrammarSource;

class ServiceForcedTest : public ServiceTest {
 protected:
  const ServiceOptions without = {.forces_tokens = false};
  static constexpr std::string_view form = R"(root ::= "\nOnce there was a " word " cook named " word ". " word
    " lived in a little house by the sea, and every day" rest
    word ::= [A-Za-z]{1,9}
    rest ::= [ a-z]{4,12} ".")";

  TextRequest held(std::string_view grammar, std::int64_t tokens, const std::string& trigger = {}) {
    TextRequest asked = request(openings[0], tokens);
    asked.constraint =
        constraints_.of({.kind = GrammarSource::Kind::gbnf, .text = std::string(grammar)}, {.text = trigger}).value();
    return asked;
  }
  TextRequest formed(std::uint64_t seed, double temperature) {
    TextRequest asked = held(form, 120);
    asked.prompt = tokenizer().encode(openings[seed % 5]).value();
    asked.sampling = {.temperature = temperature, .seed = seed};
    return asked;
  }
  // All that a request can ask for beside.
  std::vector<TextRequest> many() {
    std::vector<TextRequest> requests;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      TextRequest asked = formed(seed, static_cast<double>(seed % 3));
      if (seed % 3 == 1) asked.sampling.frequency = 1;
      if (seed == 4) asked.most_likely = 2;
      if (seed == 5) asked.stops = {"by the sea"};
      if (seed == 6) asked.most_tokens = 17;
      if (seed == 7) asked.least_tokens = 60;
      if (seed == 8) asked.biases = {{first_token(" house"), -std::numeric_limits<float>::infinity()}};
      if (seed == 9) asked.stop_tokens = {first_token(" house")};
      requests.push_back(std::move(asked));
    }
    return requests;
  }
  std::int32_t first_token(std::string_view text) const {
    return tokenizer().encode(text, {.adds_special_tokens = false}).value().front();
  }

  std::vector<HeardListener> ask(const std::vector<TextRequest>& requests, const ServiceOptions& options,
                                 int sequences = 10, std::int64_t pages = 0) {
    serve(sequences, pages, options);
    std::vector<HeardListener> listeners;
    for (const TextRequest& asked : requests) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
    run_all();
    return listeners;
  }
  HeardListener ask(const TextRequest& asked, const ServiceOptions& options = {}) {
    return ask(std::vector{asked}, options, 1).front();
  }
  std::int64_t passes() const {
    const ServiceCounts counts = service_->counts();
    return counts.decoding_passes + counts.prompt_passes + counts.mixed_passes;
  }

  // What must be said, a pass for every token.
  std::vector<std::int32_t> one_by_one(const TextRequest& asked) {
    const std::unique_ptr<Session> session = new_session(1);
    const int sequence = session->sequences().add().value();
    Sampler sampler = Sampler::create(session->table(), asked.sampling).value();
    sampler.remember(asked.prompt);
    grammar::TextConstraint text(asked.constraint);
    std::deque<std::int32_t> forced;
    const auto find_forced = [&] {
      for (const std::int32_t token : text.forced_tokens().tokens) {
        if (std::ranges::count(asked.biases, token, &TokenBias::token) > 0) return;
        if (std::ranges::count(asked.stop_tokens, token) > 0) return;
        EXPECT_TRUE(text.accept(token));
        forced.push_back(token);
      }
    };
    std::vector<std::int32_t> said, run = asked.prompt;
    find_forced();
    while (std::ssize(said) < asked.most_tokens && !(forced.empty() && text.must_end())) {
      const View<const float> logits = session->forward({sequence, run, Wanted::last}).value();
      if (!forced.empty()) {
        static_cast<void>(sampler.next_choice());
        sampler.remember(std::span(&forced.front(), 1));
        said.push_back(forced.front());
        forced.pop_front();
      } else {
        Context context = session->context_for_kernels();
        const auto mask = text.allowed().value();
        const bool is_early = std::ssize(said) < asked.least_tokens;
        const std::int32_t token = sampler
                                       .choose({logits.data(), static_cast<std::size_t>(logits.size(1))}, context,
                                               {.forbidden = is_early ? std::span<const std::int32_t>(asked.stop_tokens)
                                                                      : std::span<const std::int32_t>(),
                                                .biases = asked.biases,
                                                .allowed = mask.get()})
                                       .value();
        if (tokenizer().is_end_of_generation(token) || std::ranges::count(asked.stop_tokens, token) > 0) break;
        EXPECT_TRUE(text.accept(token));
        said.push_back(token);
        find_forced();
      }
      run = {said.back()};
    }
    return said;
  }
  // Where a text stops it has no more.
  static bool begins_with(const std::vector<std::int32_t>& whole, const std::vector<std::int32_t>& part) {
    return part.size() <= whole.size() && std::ranges::equal(part, std::span(whole).first(part.size()));
  }

  grammar::Constraints constraints_{tokenizer()};
};

TEST_F(ServiceForcedTest, TakesNoPassesAndChangesNothingThatIsFree) {
  const std::vector<TextRequest> requests = many();
  const auto check = [&](const std::vector<HeardListener>& heard) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::vector<std::int32_t> expected = one_by_one(requests[i]);
      if (requests[i].stops.empty()) {
        EXPECT_EQ(heard[i]->tokens, expected) << "request " << i << ": " << heard[i]->text << heard[i]->reason;
      } else {
        EXPECT_TRUE(begins_with(expected, heard[i]->tokens)) << "request " << i << ": " << heard[i]->text;
        EXPECT_EQ(heard[i]->ended, GenerationEnd::stop);
        EXPECT_TRUE(heard[i]->text.ends_with("house ")) << heard[i]->text;
      }
    }
  };
  check(ask(requests, {}));
  EXPECT_GT(service_->counts().forced_tokens, 100);
  // With so few pages that some go and come again; and with what followed before tried beside.
  check(ask(requests, {}, 10, 20));
  EXPECT_GT(service_->counts().preemptions, 0);
  check(ask(requests, {.most_looked_up = 4}));
  EXPECT_GT(service_->counts().accepted_tokens, 0);
}

TEST_F(ServiceForcedTest, MostPassesAreSaved) {
  const HeardListener chosen = ask(formed(0, 0), without);
  const std::int64_t before = passes();
  EXPECT_EQ(service_->counts().forced_tokens, 0);
  EXPECT_EQ(before, chosen->counts.generated);
  const HeardListener forced = ask(formed(0, 0));
  const std::int64_t count = service_->counts().forced_tokens;
  EXPECT_GT(count, 15);
  // The first are known when the prompt is through.
  EXPECT_LE(passes(), 1 + forced->counts.generated - count);
}

// Signs that are no part of a longer token have one spelling: then all is as if nothing was forced, draws and
// probabilities included.
TEST_F(ServiceForcedTest, WhereTheModelSpellsItAlikeAllIsTheSame) {
  constexpr std::string_view signs = R"(root ::= "#%#%" word "%#%#%" word "#%#" word "%%#"
    word ::= [a-z]{1,7})";
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    TextRequest asked = held(signs, 60);
    asked.sampling = {.temperature = 1.5, .seed = seed};
    if (seed % 2 == 0) asked.most_likely = 3;
    const HeardListener chosen = ask(asked, without);
    const HeardListener forced = ask(asked);
    EXPECT_GT(service_->counts().forced_tokens, 6);
    EXPECT_EQ(forced->tokens, chosen->tokens);
    EXPECT_EQ(forced->text, chosen->text);
    EXPECT_EQ(forced->ended, GenerationEnd::model);
    if (!asked.most_likely) continue;
    for (std::size_t i = 0; i < forced->scores.size(); ++i) {
      EXPECT_EQ(forced->scores[i].log_probability, chosen->scores[i].log_probability);
      EXPECT_EQ(forced->scores[i].most_likely, chosen->scores[i].most_likely);
    }
  }
}

TEST_F(ServiceForcedTest, ItsProbabilitiesAreToldAndChangeNoWord) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    TextRequest asked = formed(seed, 1);
    const HeardListener silent = ask(asked);
    asked.most_likely = 2;
    const HeardListener told = ask(asked);
    EXPECT_GT(service_->counts().accepted_tokens, 5);
    EXPECT_EQ(told->tokens, silent->tokens);
    for (const TokenScore& score : told->scores) {
      EXPECT_LT(score.log_probability, 0);
      EXPECT_EQ(score.most_likely.size(), 2u);
    }
  }
}

TEST_F(ServiceForcedTest, AnEndThatIsForcedTakesNoPass) {
  const HeardListener heard = ask(held(R"(root ::= " and they lived happily ever after.")", 50));
  EXPECT_EQ(heard->text, " and they lived happily ever after.");
  EXPECT_EQ(heard->ended, GenerationEnd::model);
  EXPECT_EQ(service_->counts().forced_tokens, heard->counts.generated);
  EXPECT_EQ(passes(), 1);  // of the prompt
}

TEST_F(ServiceForcedTest, WhatTakesLongToSpellIsForcedToItsEnd) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += " and they lived happily";
  const HeardListener heard = ask(held("root ::= \"" + text + ".\"", 180));
  EXPECT_EQ(heard->text, text + ".");
  EXPECT_EQ(service_->counts().forced_tokens, heard->counts.generated);
  EXPECT_LT(passes(), 12);  // a piece of it each
}

TEST_F(ServiceForcedTest, BehindATriggerToo) {
  const std::string free = alone(request(openings[0], 20));
  const std::size_t place = free.find("lived");
  ASSERT_NE(place, std::string::npos) << free;
  const HeardListener heard = ask(held(R"(root ::= "lived on the shining moon for " [a-z]{3})", 40, "lived"));
  EXPECT_TRUE(heard->text.starts_with(free.substr(0, place) + "lived on the shining moon for ")) << heard->text;
  EXPECT_EQ(heard->ended, GenerationEnd::model);
  EXPECT_GT(service_->counts().forced_tokens, 3);
}

TEST_F(ServiceForcedTest, EachChoiceDrawsByItsOwnSeed) {
  TextRequest asked = formed(1, 1);
  serve(4);
  std::vector<TextChoices> all(1);
  all[0].request = asked;
  std::vector<HeardListener> listeners;
  for (int i = 0; i < 3; ++i) all[0].listeners.push_back(listeners.emplace_back(std::make_shared<Heard>()));
  ASSERT_TRUE(service_->submit(std::move(all)).ok());
  run_all();
  for (const HeardListener& listener : listeners) {
    EXPECT_EQ(listener->tokens, one_by_one(asked));
    ++asked.sampling.seed;
  }
}

// Nobody needs a mask to be told what is forced.
TEST_F(ServiceForcedTest, IsToldBeforeItIsKnownWhatMayFollow) {
  auto masks = std::make_shared<MaskThread>();
  std::promise<void> go;
  masks->run([&] { go.get_future().wait(); });
  serve(1, 0, {.masks = std::move(masks)});
  const HeardListener heard = std::make_shared<Heard>();
  submit(formed(0, 0), heard);
  while (service_->step()) {
  }
  EXPECT_TRUE(heard->text.starts_with("\nOnce there was a")) << heard->text;
  EXPECT_TRUE(service_->awaits_masks());
  go.set_value();
  run_all();
  EXPECT_EQ(heard->tokens, one_by_one(formed(0, 0)));
}

// Rows of a pass are shared by all: with more who generate than rows for what they have come to, each has its own.
TEST_F(ServiceForcedTest, NobodyMissesAPassForAnothersText) {
  std::vector<TextRequest> requests;
  for (std::uint64_t seed = 0; seed < 12; ++seed) requests.push_back(formed(seed, 0));
  requests.push_back(request(openings[1], 40));
  const auto heard = ask(requests, {}, 16);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(heard[i]->tokens, one_by_one(requests[i]));
  EXPECT_EQ(heard.back()->text, alone(requests.back()));
}

}  // namespace
}  // namespace ingot
