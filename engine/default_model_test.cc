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
  const Result<GenerationReport> report =
      generate(*session, tokenizer, sampler, sequence, tokenizer.encode(default_opening).value(), 250,
               [](std::string_view) { return true; });
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
      " Ralf lived in a draughty attic by the brewery. Ralf the cook dreamed of a scarlet doll. One clear day Ralf "
      "left "
      "the brewery in his shawl. Ralf the cook met a gentle calf by a rosebush. \"I am Ralf the cook, calf, and I need "
      "a scarlet doll.\" The gentle calf knew of one near the ruins. Ralf the cook followed the gentle calf to the "
      "ruins. There was a huge puddle, but Ralf the cook had a raft. There, under a bucket, Ralf saw a scarlet doll. "
      "\"Take the doll, Ralf,\" said the gentle calf. Ralf the cook never forgot the gentle calf.\n";
  const Tale tale = tell(1);
  EXPECT_EQ(tale.reason, StopReason::end_of_generation);
  EXPECT_EQ(tale.text, expected);
  EXPECT_EQ(tell(2).text, expected);
}

}  // namespace
}  // namespace ingot
