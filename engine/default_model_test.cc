#include "engine/default_model.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(DefaultModel, TellsTheSameTaleOnAnyNumberOfThreads) {
  const Tale tale = tell(1);
  EXPECT_EQ(tale.reason, StopReason::end_of_generation) << tale.text;
  EXPECT_GT(std::ranges::count(tale.text, ' '), 60) << tale.text;
  EXPECT_GT(std::ranges::count(tale.text, '.'), 5) << tale.text;
  EXPECT_EQ(tell(2).text, tale.text);
}

}  // namespace
}  // namespace ingot
