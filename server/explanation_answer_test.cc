#include "server/explanation_answer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "machine/peaks_cache.h"
#include "server/test_exchange.h"

namespace ingot {
namespace {

Peaks made_up_peaks(const Machine&, Workers& workers) {
  return {1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, workers.count(), 0};
}

class DeafListener : public GenerationListener {
 public:
  void on_prompt(std::span<const ChosenToken>) override {}
  void on_token(const ChosenToken&) override {}
  void on_end(const GenerationEnding&) override {}
};

// With a folder of its own, where peaks are remembered.
class ExplanationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("explanation_answer_test_" + std::to_string(::getpid()));
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    std::shared_ptr<const Model> model = Model::open_default().value();
    HostedModelOptions options = {.id = "tales"};
    options.session.pages = 4;
    model_ = HostedModel::create(std::move(model), options, passes_.bell()).value();
    answers_.set_models({model_.get()});
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    if (before_.empty()) {
      ::unsetenv("XDG_CACHE_HOME");
    } else {
      ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
  }

  std::shared_ptr<TestExchange> ask() {
    auto exchange = exchange_of("GET", "/explain");
    answers_.begin(std::make_shared<Visit>(exchange, Visitor{}, std::vector<http::Header>{}, log_), *model_);
    return exchange;
  }
  // What was asked until now.
  void run_passes() {
    Passes::Model last{[this] {
                         passes_.stop();
                         return false;
                       },
                       [] { return std::optional<std::chrono::steady_clock::time_point>(); }, [] {}};
    passes_.bell().ring();
    passes_.add(std::move(last));
    passes_.run();
  }

  std::filesystem::path folder_;
  std::string before_;
  RequestLog log_{LogForm::none};
  Passes passes_;
  std::unique_ptr<HostedModel> model_;
  ExplanationAnswers answers_{passes_};
};

TEST_F(ExplanationTest, AMapIsDrawnOnceAndOneAtATime) {
  Workers& workers = model_->session().context_for_kernels().workers;
  ASSERT_TRUE(cached_peaks_in((folder_ / "ingot").string(), Machine::detect(), workers, made_up_peaks).ok());
  const auto first = ask();
  const auto second = ask();
  EXPECT_EQ(second->answered().status, 503);
  EXPECT_NE(second->header("Retry-After"), "");
  run_passes();
  EXPECT_EQ(first->answered().status, 200);
  EXPECT_NE(first->answered().body.find("<html"), std::string::npos);
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(ask()->answered().body, first->answered().body);  // at once: nobody runs passes any more
}

TEST_F(ExplanationTest, NothingIsDrawnForWhoHasLeft) {
  const auto leaver = ask();
  leaver->leave();
  run_passes();
  EXPECT_EQ(leaver->answered().status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_));  // nothing was measured
  EXPECT_EQ(ask()->answered().status, 0);          // which waits, since no other is drawn
}

TEST_F(ExplanationTest, PeaksAreNotMeasuredWhileAModelHasRequests) {
  TextRequest request;
  request.prompt = {1};
  request.most_tokens = 1;
  ASSERT_TRUE(model_->texts()->submit(std::move(request), std::make_shared<DeafListener>()).ok());
  const auto exchange = ask();
  run_passes();
  EXPECT_EQ(exchange->answered().status, 503);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

}  // namespace
}  // namespace ingot
