#include "engine/conversation.h"

#include <gtest/gtest.h>

#include "engine/golden_model.h"
#include "model/tokenizer/byte_alphabet.h"

namespace ingot {
namespace {

// As many tokens as the tiny models have: a printable character each.
Result<Tokenizer> characters() {
  TokenizerDescription description;
  description.is_byte_level = true;
  for (char character = ' '; description.tokens.size() < 96; ++character) {
    description.tokens.push_back(spelled_bytes({&character, 1}));
    description.scores.push_back(0);
    description.types.push_back(TokenType::normal);
  }
  return Tokenizer::create(std::move(description));
}

// What the model answers to the messages, one after the other.
std::vector<std::string> answers(Session& session, const Tokenizer& tokenizer, const std::string& source) {
  Result<Conversation> conversation = Conversation::create(session, tokenizer, source);
  Result<Sampler> sampler = Sampler::create(session.table(), {});
  if (!conversation.ok() || !sampler.ok()) {
    ADD_FAILURE() << "no conversation";
    return {};
  }
  std::vector<std::string> texts;
  for (const char* message : {"Where does the river rise", "and how long is it", "Who drew the first map of it"}) {
    const Result<GenerationReport> report =
        conversation.value().answer(message, sampler.value(), 12, [](std::string_view) { return true; });
    EXPECT_TRUE(report.ok()) << report.error().text();
    if (!report.ok()) return {};
    texts.push_back(report.value().text);
  }
  return texts;
}

// The history changes near its beginning with every message, further back than a ring reaches.
TEST(Conversation, BeginsAgainWhereTheSequenceCannotBeTurnedBack) {
  const std::string source =
      "abc{{ messages|length }}{% for message in messages %}{{ message.role }}:{{ message.content }}{% endfor %}";
  const Result<Tokenizer> tokenizer = characters();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  for (const char* model : {"mistral", "gemma3_text"}) {
    const auto ring = golden_session(model, {.context = 256, .page_length = 4, .chunk = 6});
    const auto whole = golden_session(model, {.context = 256, .page_length = 256});
    ASSERT_NE(ring, nullptr);
    ASSERT_NE(whole, nullptr);
    EXPECT_LT(ring->sequences().bytes(), whole->sequences().bytes());
    EXPECT_EQ(answers(*ring, tokenizer.value(), source), answers(*whole, tokenizer.value(), source)) << model;
  }
}

}  // namespace
}  // namespace ingot
