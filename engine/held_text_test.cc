#include "engine/held_text.h"

#include <gtest/gtest.h>

#include <future>

#include "engine/model.h"
#include "kernels/all_operations.h"
#include "machine/machine.h"
#include "model/grammar/constraints.h"

namespace ingot {
namespace {

using grammar::GrammarSource;

class HeldTextTest : public testing::Test {
 protected:
  HeldText text_of(std::vector<std::string> choices, Forcing forcing = {.is_on = false}) {
    return HeldText(constraints_.of({.kind = GrammarSource::Kind::choices, .choices = std::move(choices)}).value(),
                    std::move(forcing));
  }
  // The most likely token is the first of those that are allowed.
  Result<std::int32_t> choose(HeldText& text, const TokenConstraints& constraints = {}) {
    std::vector<float> logits(static_cast<std::size_t>(tokenizer_.vocabulary_size()));
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = -static_cast<float>(i);
    Context context{*workers_, {}};
    text.begin_mask(masks_);
    return text.choose(sampler_, logits, context, constraints);
  }
  std::string whole(HeldText& text) {
    std::string spelled;
    for (int i = 0; i < 100 && !text.must_end(); ++i) {
      const Result<std::int32_t> token = choose(text);
      if (!token.ok()) return std::string(token.error().text());
      spelled += tokenizer_.piece(token.value());
    }
    return spelled;
  }

  std::shared_ptr<const Model> model_ = Model::open_default().value();
  const Tokenizer& tokenizer_ = *model_->tokenizer().value();
  grammar::Constraints constraints_{tokenizer_};
  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features).value();
  std::unique_ptr<Workers> workers_ = Workers::create({.threads = 1}).value();
  Sampler sampler_ = Sampler::create(table_, {}).value();
  MaskThread masks_;
};

TEST_F(HeldTextTest, SaysWhatTheConstraintHas) {
  HeldText text = text_of({"a thoughtful cook"});
  EXPECT_EQ(whole(text), "a thoughtful cook");
  EXPECT_TRUE(text.can_end());
}

TEST_F(HeldTextTest, WhoDoesNotWaitIsRungForOnce) {
  HeldText text = text_of({"cook"});
  std::promise<void> go;
  masks_.run([&] { go.get_future().wait(); });
  text.begin_mask(masks_);
  EXPECT_FALSE(text.wait_until(HeldText::Clock::now()));
  Bell bell;
  text.ring_when_known(bell);
  go.set_value();
  bell.wait();
  EXPECT_TRUE(text.wait_until(HeldText::Clock::now()));
  text.ring_when_known(bell);  // which it is already
  bell.wait();
  EXPECT_EQ(whole(text), "cook");
}

TEST_F(HeldTextTest, WhatTheThreadIsFindingOutIsNotKnown) {
  HeldText text = text_of({"cook", "baker"});
  text.begin_mask(masks_);
  EXPECT_TRUE(text.wait_until(HeldText::Clock::now() + std::chrono::minutes(1)));
  EXPECT_TRUE(text.knows_next());
  const std::vector<std::int32_t> proposed = tokenizer_.encode("cook", {.adds_special_tokens = false}).value();
  std::promise<void> go;
  masks_.run([&] { go.get_future().wait(); });
  text.begin_mask(masks_, proposed);
  EXPECT_FALSE(text.knows_next());
  go.set_value();
  EXPECT_TRUE(text.wait_until(HeldText::Clock::now() + std::chrono::minutes(1)));
  EXPECT_TRUE(text.knows_next());
}

TEST_F(HeldTextTest, WhatIsForcedNeedsNeitherMaskNorLogits) {
  HeldText text = text_of({"a thoughtful cook", "a thoughtful baker"}, {});
  const std::vector<std::int32_t> expected = tokenizer_.encode("a thoughtful", {.adds_special_tokens = false}).value();
  ASSERT_GT(expected.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(text.forced(), expected));
  for (const std::int32_t token : expected) {
    EXPECT_FALSE(text.can_end() || text.must_end());
    EXPECT_EQ(text.next_forced(sampler_), token);
  }
  EXPECT_EQ(text.next_forced(sampler_), std::nullopt);
  Context context{*workers_, {}};
  EXPECT_FALSE(text.choose(sampler_, {}, context).ok());  // nobody has found out what may come
  EXPECT_TRUE(choose(text).ok());
}

TEST_F(HeldTextTest, WhatIsForcedToItsEndIsWhole) {
  HeldText text = text_of({"a thoughtful cook"}, {});
  EXPECT_EQ(whole(text), "a thoughtful cook");
  EXPECT_TRUE(text.can_end() && text.must_end());
}

TEST_F(HeldTextTest, WhatSomebodyHasASayInIsChosen) {
  const std::vector<std::int32_t> tokens =
      tokenizer_.encode("a thoughtful cook", {.adds_special_tokens = false}).value();
  ASSERT_GT(tokens.size(), 2u);
  HeldText text = text_of({"a thoughtful cook"}, {.chosen = {tokens[1]}});
  EXPECT_EQ(text.forced().size(), 1u);
  EXPECT_EQ(text.next_forced(sampler_), tokens[0]);
  EXPECT_EQ(text.next_forced(sampler_), std::nullopt);
}

TEST_F(HeldTextTest, WhereNothingIsLeftItFails) {
  HeldText text = text_of({"yes"});
  std::vector<TokenBias> biases;
  for (std::int32_t token = 0; token < tokenizer_.vocabulary_size(); ++token) {
    if (tokenizer_.piece(token).starts_with('y')) biases.push_back({token, -std::numeric_limits<float>::infinity()});
  }
  const Result<std::int32_t> token = choose(text, {.biases = biases});
  ASSERT_FALSE(token.ok());
  EXPECT_NE(token.error().text().find("biases"), std::string::npos) << token.error().text();
}

TEST_F(HeldTextTest, AnotherIsChosenInPlaceOfATokenThatGoesOnWronglyBehindTheTrigger) {
  // The trigger ends inside of the most likely token, and the grammar has no more of it.
  const std::int32_t likely = tokenizer_.encode(" there", {.adds_special_tokens = false}).value().front();
  ASSERT_GT(tokenizer_.piece(likely).size(), 3u);
  const auto constraint =
      constraints_.of({.kind = GrammarSource::Kind::choices, .choices = {"th!"}}, {.text = "th"}).value();
  HeldText text(constraint);
  const std::vector<TokenBias> biases = {{likely, 1e6F}};
  const Result<std::int32_t> token = choose(text, {.biases = biases});
  ASSERT_TRUE(token.ok()) << token.error().text();
  EXPECT_NE(token.value(), likely);
}

}  // namespace
}  // namespace ingot
