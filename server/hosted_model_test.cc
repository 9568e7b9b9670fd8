#include "server/hosted_model.h"

#include <gtest/gtest.h>

#include "server/test_embedder.h"

namespace ingot {
namespace {

class CountingListener : public GenerationListener {
 public:
  explicit CountingListener(RequestMetrics& metrics) : metrics_(metrics) {}
  void on_token(const ChosenToken&) override {}
  void on_end(const GenerationEnding& ending) override { metrics_.count_end(ending.end, ending.counts, ending.times); }

 private:
  RequestMetrics& metrics_;
};

// For the sanitizers: whoever is cancelled by the model's end is counted in its metrics.
TEST(HostedModel, MetricsOutliveTheRequestsThatItEndsWith) {
  Bell bell;
  auto texts = HostedModel::create(Model::open_default().value(), {.id = "tales"}, bell).value();
  const auto listener = std::make_shared<CountingListener>(texts->metrics());
  ASSERT_TRUE(texts->texts()->submit({.prompt = {1}, .most_tokens = 2}, listener).ok());
  texts.reset();
  auto vectors = HostedModel::create(open_embedder(), {.id = "bert"}, bell).value();
  const auto count = [&metrics = vectors->metrics()](const VectorEnding& ending) {
    metrics.count_end(ending.end, ending.counts, ending.times);
  };
  ASSERT_TRUE(vectors->embeddings()->submit({.texts = {{1}}, .listener = count}).ok());
  vectors.reset();
}

TEST(HostedModel, EndsAllThatItHasOfEitherKind) {
  Bell bell;
  const auto ended = [](const HostedModel& model, GenerationEnd end) {
    return model.figures().requests->ended[static_cast<std::size_t>(end)].load();
  };
  const auto texts = HostedModel::create(Model::open_default().value(), {.id = "tales"}, bell).value();
  const auto listener = std::make_shared<CountingListener>(texts->metrics());
  ASSERT_TRUE(texts->texts()->submit({.prompt = {1}, .most_tokens = 2}, listener).ok());
  texts->cancel_all();
  EXPECT_EQ(ended(*texts, GenerationEnd::cancelled), 1);
  EXPECT_FALSE(texts->step());
  const auto vectors = HostedModel::create(open_embedder(), {.id = "bert"}, bell).value();
  GenerationEnd end = GenerationEnd::none;
  VectorRequest request = {.texts = {{1}}, .listener = [&end](const VectorEnding& ending) { end = ending.end; }};
  request.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  ASSERT_TRUE(vectors->embeddings()->submit(request).ok());
  EXPECT_EQ(vectors->earliest_deadline(), request.deadline);
  vectors->cancel_all();
  EXPECT_EQ(end, GenerationEnd::cancelled);
}

}  // namespace
}  // namespace ingot
