#include "engine/default_model.h"

#include <gtest/gtest.h>

#include "engine/generator.h"
#include "engine/sampler.h"
#include "engine/session.h"

namespace ingot {
namespace {

struct Tale {
  std::string text;
  StopReason reason = StopReason::token_limit;
};

Tale tell(int threads) {
  Tale tale;
  const std::shared_ptr<const Model> model = Model::open_default().value();
  const std::unique_ptr<Session> session = Session::create(model, {.threads = threads}).value();
  const Tokenizer& tokenizer = *model->tokenizer().value();
  Sampler sampler = Sampler::create(session->table(), {}).value();
  const int sequence = session->sequences().add().value();
  const Result<GenerationReport> report = generate(*session, tokenizer, sampler, sequence, tokenizer.encode("").value(),
                                                   250, [](std::string_view) { return true; });
  EXPECT_TRUE(report.ok()) << report.error().text();
  if (report.ok()) tale = {report.value().text, report.value().reason};
  return tale;
}

TEST(DefaultModel, IsSmallEnoughToCarry) {
  EXPECT_GT(default_model_file().size(), 100'000u);
  EXPECT_LE(default_model_file().size(), 3'000'000u);
}

// The most likely tale, on every machine. What it samples is tested in train/default_tales_test.cc.
TEST(DefaultModel, TellsTheSameTaleOnAnyNumberOfThreads) {
  constexpr std::string_view expected =
      "\nThis is the tale of Sonja, a trusty tinker. Sonja lived in a draughty attic by the brewery. Sonja the tinker "
      "wanted a splendid pencil. One clear day Sonja the tinker put on her jacket. Sonja the tinker met a gentle "
      "beaver "
      "on a milestone. \"I am Sonja the tinker, beaver, and I need a splendid pencil.\" The gentle beaver knew of one "
      "near the ruins. Sonja the tinker followed the gentle beaver to the ruins. There was a huge puddle, but Sonja "
      "the "
      "tinker had a raft. \"Look, Sonja!\" cried the beaver. In a rabbit hole lay a splendid pencil. Sonja took the "
      "splendid pencil and thanked the gentle beaver. Sonja the tinker never forgot the gentle beaver.\n";
  const Tale tale = tell(1);
  EXPECT_EQ(tale.reason, StopReason::end_of_generation);
  EXPECT_EQ(tale.text, expected);
  EXPECT_EQ(tell(2).text, expected);
}

}  // namespace
}  // namespace ingot
