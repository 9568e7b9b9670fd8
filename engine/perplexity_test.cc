#include "engine/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/golden_model.h"
#include "engine/measure.h"

namespace ingot {
namespace {

// -log of the probability that logits give a token, by the definition.
double loss_of(std::span<const float> logits, std::int32_t token) {
  double sum = 0;
  for (const float value : logits) sum += std::exp(double{value});
  return std::log(sum) - double{logits[static_cast<std::size_t>(token)]};
}

// Every token given all before it within its window, one pass a token.
double direct_mean_loss(Session& session, std::span<const std::int32_t> tokens, std::size_t context,
                        std::size_t stride) {
  double sum = 0;
  for (std::size_t token = 1; token < tokens.size(); ++token) {
    std::size_t begin = 0;
    while (begin + context <= token) begin += stride;
    const int sequence = session.sequences().add().value();
    const View<const float> logits =
        session.forward({sequence, tokens.subspan(begin, token - begin), Wanted::last}).value();
    sum += loss_of({logits.data(), static_cast<std::size_t>(logits.count())}, tokens[token]);
    session.sequences().remove(sequence);
  }
  return sum / static_cast<double>(tokens.size() - 1);
}

TEST(Perplexity, AgreesWithItsDefinitionInOneWindowAndInSeveral) {
  for (const std::int64_t context : {40, 12}) {
    const auto session = golden_session("llama", {.context = context, .chunk = 5});
    ASSERT_NE(session, nullptr);
    const std::vector<std::int32_t> tokens = arbitrary_tokens(33, session->model().facts().vocabulary);
    std::int64_t last = 0;
    const Result<Perplexity> found = perplexity_of(*session, tokens, 4, [&](std::int64_t scored, std::int64_t of) {
      EXPECT_GT(scored, last);
      EXPECT_LE(scored, of);
      last = scored;
    });
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found.value().scored, 32);
    EXPECT_EQ(last, 32);
    EXPECT_EQ(found.value().windows, context == 40 ? 1 : 7);
    const double expected = direct_mean_loss(*session, tokens, static_cast<std::size_t>(context), 4);
    EXPECT_NEAR(found.value().mean_loss, expected, 1e-4);
    EXPECT_NEAR(found.value().value, std::exp(expected), 1e-3 * std::exp(expected));
  }
}

TEST(Perplexity, RefusesWhatCannotBeScored) {
  const auto session = golden_session("llama", {.context = 16});
  ASSERT_NE(session, nullptr);
  const std::vector<std::int32_t> tokens = {1, 2, 3};
  EXPECT_FALSE(perplexity_of(*session, std::span(tokens).first(1), 0).ok());
  EXPECT_FALSE(perplexity_of(*session, tokens, 16).ok());
  EXPECT_FALSE(perplexity_of(*session, tokens, -1).ok());
  EXPECT_TRUE(perplexity_of(*session, tokens, 15).ok());
}

}  // namespace
}  // namespace ingot
