// Whoever asks for an answer in a shape that nobody asked for before waits until it is compiled, and nobody else does.
#include <gtest/gtest.h>

#include <future>

#include "server/application.h"
#include "server/test_exchange.h"

namespace ingot {
namespace {

std::string body_of(std::string_view pattern) {
  return R"({"prompt":[1],"max_tokens":2,"guided_regex":")" + std::string(pattern) + "\"}";
}

// The one thread that compiles is held until it is let go.
class CompilingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    application_.open({model_.get()});
    compilers_.run([this] {
      is_held_.set_value();
      let_go_.get_future().wait();
    });
    is_held_.get_future().wait();
  }
  // Once its helper has looked at it.
  std::shared_ptr<TestExchange> ask(std::string path, std::string body) {
    auto exchange = exchange_of("POST", std::move(path), {}, std::move(body));
    application_.handle(exchange);
    wait_for(helpers_);
    return exchange;
  }
  static void wait_for(Helpers& threads) {
    std::promise<void> is_done;
    ASSERT_TRUE(threads.offer({[&] { is_done.set_value(); }}));
    is_done.get_future().wait();
  }
  void let_compiler_go() {
    let_go_.set_value();
    while (!compilers_.offer({[this] { is_compiled_.set_value(); }})) std::this_thread::yield();  // until there is room
    is_compiled_.get_future().wait();
  }
  // Masks are another thread's, which a step does not wait for; a helper spells the answer.
  void run_passes_until_answered(const TestExchange& exchange) {
    while (exchange.answered().status == 0) {
      if (!model_->step()) std::this_thread::yield();
    }
  }

  std::promise<void> is_held_, let_go_, is_compiled_;
  Passes passes_;
  std::unique_ptr<HostedModel> model_ =
      HostedModel::create(Model::open_default().value(), {.id = "tales"}, passes_.bell()).value();
  Helpers helpers_{1}, compilers_{1, {.tasks = 2}};
  Application application_{{.log = LogForm::none}, passes_, helpers_, compilers_};
};

TEST_F(CompilingTest, KeepsNobodyElseWaiting) {
  const auto held = ask("/v1/completions", body_of("[ab]{2}"));
  EXPECT_EQ(held->answered().status, 0);
  EXPECT_EQ(ask("/tokenize", R"({"content":"x"})")->answered().status, 200);
  const auto free = ask("/v1/completions", R"({"prompt":[1],"max_tokens":2})");
  run_passes_until_answered(*free);
  EXPECT_EQ(free->answered().status, 200);
  EXPECT_EQ(held->answered().status, 0);
  let_compiler_go();
  run_passes_until_answered(*held);
  EXPECT_EQ(held->answered().status, 200) << held->answered().body;
}

TEST_F(CompilingTest, IsNotWaitedForByWhoeverAsksForWhatWasCompiled) {
  ASSERT_TRUE(
      model_->constraints().of({.kind = grammar::GrammarSource::Kind::regular_expression, .text = "[ab]"}).ok());
  const auto known = ask("/v1/completions", body_of("[ab]"));
  run_passes_until_answered(*known);
  EXPECT_EQ(known->answered().status, 200) << known->answered().body;
  let_compiler_go();
}

TEST_F(CompilingTest, IsBoundedAndLeavesWithItsClients) {
  const auto first = ask("/v1/completions", body_of("a"));
  const auto second = ask("/v1/completions", body_of("b"));
  const auto refused = ask("/v1/completions", body_of("c"));
  EXPECT_EQ(refused->answered().status, 503);
  EXPECT_NE(refused->header("Retry-After"), "");
  EXPECT_NE(refused->answered().body.find("wait to be compiled"), std::string::npos) << refused->answered().body;
  first->leave();
  EXPECT_EQ(first.use_count(), 1);  // nobody holds it any more
  const auto third = ask("/v1/completions", body_of("("));
  EXPECT_EQ(third->answered().status, 0);
  let_compiler_go();
  EXPECT_EQ(model_->constraints().count(), 2u);  // of the second, and why there is none of the third
  EXPECT_EQ(third->answered().status, 400);
  EXPECT_NE(third->answered().body.find(R"("param":"guided_regex")"), std::string::npos) << third->answered().body;
  run_passes_until_answered(*second);
  EXPECT_EQ(second->answered().status, 200);
}

TEST_F(CompilingTest, ThatWaitsAtTheEndIsToldSo) {
  const auto held = ask("/v1/completions", body_of("a"));
  application_.close();
  application_.cancel_all();
  let_compiler_go();
  EXPECT_EQ(held->answered().status, 503);
}

}  // namespace
}  // namespace ingot
