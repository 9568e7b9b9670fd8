#include "server/text_answer.h"

#include <gtest/gtest.h>

#include <future>

#include "server/protocol/body.h"
#include "server/protocol/completion_answer.h"
#include "server/test_exchange.h"

namespace ingot {
namespace {

// The thread of passes spells no whole answer: here it is this one, and the only helper is held.
TEST(TextAnswers, AWholeAnswerIsSpelledByAHelper) {
  RequestLog log(LogForm::none);
  Bell bell;
  const auto model = HostedModel::create(Model::open_default().value(), {.id = "tales"}, bell).value();
  std::promise<void> let_go, is_done;
  Helpers helpers(1);
  helpers.run([&] { let_go.get_future().wait(); });
  TextAnswers answers(helpers);
  const auto exchange = exchange_of("POST", "/v1/completions");
  const auto visit = std::make_shared<Visit>(exchange, Visitor{}, std::vector<http::Header>{}, log);
  const auto body = protocol::read_body(R"({"prompt":[1],"max_tokens":2,"ignore_eos":true})");
  const auto request = protocol::read_completion_request(body.value(), model->served());
  auto form = std::make_unique<protocol::CompletionAnswer>(protocol::AnswerHead{.id = "cmpl-1"}, request.value(),
                                                           model->tokenizer());
  std::vector<TextRequest> prompts = {request.value().generation.text};
  prompts.front().prompt = {1};
  prompts.front().most_tokens = 2;
  ASSERT_TRUE(answers.begin(visit, *model, std::move(form), std::move(prompts), false).ok());
  while (model->step()) {
  }
  EXPECT_EQ(model->figures().service.generated_tokens, 2);
  EXPECT_EQ(exchange->answered().status, 0);
  let_go.set_value();
  ASSERT_TRUE(helpers.offer({[&] { is_done.set_value(); }}));
  is_done.get_future().wait();
  EXPECT_EQ(exchange->answered().status, 200);
  EXPECT_NE(exchange->answered().body.find(R"("completion_tokens":2)"), std::string::npos) << exchange->answered().body;
}

}  // namespace
}  // namespace ingot
