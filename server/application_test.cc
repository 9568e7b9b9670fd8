#include "server/application.h"

#include <gtest/gtest.h>

#include <future>

#include "server/test_exchange.h"

namespace ingot {
namespace {

class ApplicationTest : public ::testing::Test {
 protected:
  std::shared_ptr<TestExchange> ask(std::string method, std::string path, std::vector<http::Header> headers = {}) {
    auto exchange = exchange_of(std::move(method), std::move(path), std::move(headers), "{");
    application_.handle(exchange);
    return exchange;
  }
  int status_of(std::string path, std::vector<http::Header> headers) {
    return ask("GET", std::move(path), std::move(headers))->answered().status;
  }
  // Holds the only helper until the promise is kept.
  void hold_helper() {
    helpers_.run([this] {
      is_held_.set_value();
      let_go_.get_future().wait();
    });
    is_held_.get_future().wait();
  }
  // Waits until it has done what it was given.
  void let_helper_go() {
    std::promise<void> is_done;
    let_go_.set_value();
    while (!helpers_.offer({[&] { is_done.set_value(); }})) std::this_thread::yield();  // until there is room
    is_done.get_future().wait();
  }

  std::promise<void> is_held_, let_go_;
  Passes passes_;
  Helpers helpers_{1, {.tasks = 2}};
  Helpers compilers_{1};
  Application application_{{.origins = {"https://example.org"}, .log = LogForm::none}, passes_, helpers_, compilers_};
};

TEST_F(ApplicationTest, ThatEndsBeforeItWasOpenedHasNoModels) {
  application_.close();
  for (const char* path : {"/v1/models", "/v1/models/tales", "/metrics", "/explain", "/props", "/health"}) {
    const auto exchange = ask("GET", path);
    EXPECT_EQ(exchange->answered().status, 503) << path;
    EXPECT_NE(exchange->answered().body.find("about to end"), std::string::npos) << path;
  }
  for (const char* path : {"/v1/completions", "/completion"}) EXPECT_EQ(ask("POST", path)->answered().status, 503);
}

TEST_F(ApplicationTest, RequestsThatWaitForAHelperAreBoundedAndLeaveWithTheirClients) {
  application_.open({});
  hold_helper();
  const auto first = ask("POST", "/tokenize");
  const auto second = ask("POST", "/tokenize");
  const auto refused = ask("POST", "/tokenize");
  EXPECT_EQ(refused->answered().status, 503);
  EXPECT_NE(refused->header("Retry-After"), "");
  first->leave();
  EXPECT_EQ(first.use_count(), 1);  // nobody holds its body any more
  const auto third = ask("POST", "/tokenize");
  EXPECT_EQ(third->answered().status, 0);
  let_helper_go();
  EXPECT_EQ(first->answered().status, 0);
  EXPECT_EQ(second->answered().status, 400);  // "{" is no JSON
  EXPECT_EQ(third->answered().status, 400);
}

TEST_F(ApplicationTest, WhatWaitsForAHelperAtTheEndIsToldSo) {
  application_.open({});
  hold_helper();
  const auto exchange = ask("POST", "/tokenize");
  application_.close();
  application_.cancel_all();
  let_helper_go();
  EXPECT_EQ(exchange->answered().status, 503);
}

TEST_F(ApplicationTest, PagesOfOtherSitesLeadToNothingButThePageAndTheHealth) {
  application_.open({});
  const http::Header cross{"Sec-Fetch-Site", "cross-site"};
  EXPECT_EQ(status_of("/explain", {cross}), 403);
  EXPECT_EQ(status_of("/v1/models", {cross, {"Sec-Fetch-Dest", "document"}}), 403);
  EXPECT_EQ(status_of("/page/page.js", {cross, {"Sec-Fetch-Dest", "script"}}), 403);
  EXPECT_EQ(status_of("/", {cross, {"Sec-Fetch-Dest", "iframe"}}), 403);
  EXPECT_EQ(status_of("/", {cross, {"Sec-Fetch-Dest", "document"}}), 200);
  EXPECT_EQ(status_of("/health", {cross}), 200);
  EXPECT_EQ(status_of("/v1/models", {cross, {"Origin", "https://example.org"}}), 200);
  EXPECT_EQ(status_of("/v1/models", {{"Sec-Fetch-Site", "same-origin"}}), 200);
}

TEST_F(ApplicationTest, QueriesThatNobodyKnowsAreRefusedByName) {
  application_.open({});
  const auto asked = [this](std::string method, std::string path, std::string query) {
    http::Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.query = std::move(query);
    const auto exchange = std::make_shared<TestExchange>(std::move(request));
    application_.handle(exchange);
    return exchange->answered();
  };
  EXPECT_EQ(asked("GET", "/health", "").status, 200);
  const http::Answer refused = asked("GET", "/health", "verbose=1");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find(R"("param":"verbose")"), std::string::npos) << refused.body;
  EXPECT_EQ(asked("POST", "/v1/completions", "api-version=2024-10-21").status, 400);
  EXPECT_EQ(asked("GET", "/explain", "format=xml").status, 400);
  EXPECT_EQ(asked("GET", "/v1/models/tales", "model=tales").status, 400);
  EXPECT_EQ(asked("GET", "/v1/messages", "beta=true").status, 405);
  EXPECT_EQ(asked("POST", "/v1/messages", "beta=false").status, 400);
  EXPECT_EQ(asked("OPTIONS", "/health", "verbose=1").status, 200);  // a browser that is refused would not say why
  EXPECT_EQ(asked("GET", "/", "utm_source=letter").status, 200);
  EXPECT_EQ(asked("GET", "/page/page.js", "version=2").status, 200);
}

TEST_F(ApplicationTest, ErrorsHaveTheFormInWhichIsAsked) {
  application_.open({});
  const auto wrong = ask("GET", "/v1/messages");
  EXPECT_EQ(wrong->answered().status, 405);
  EXPECT_EQ(wrong->header("Allow"), "POST, OPTIONS");
  EXPECT_TRUE(wrong->answered().body.starts_with(R"({"type":"error","error":{"type":"invalid_request_error",)"));
  const std::string id = wrong->header("request-id");
  EXPECT_TRUE(id.starts_with("req_")) << id;
  EXPECT_NE(wrong->answered().body.find(R"("request_id":")" + id + "\""), std::string::npos);
  EXPECT_NE(ask("GET", "/v1/messages")->header("request-id"), id);
  http::Request request;
  request.path = "/v1/messages/count_tokens";
  const http::Answer refused = application_.refuse({413, "too large"}, request);
  EXPECT_EQ(refused.body, R"({"type":"error","error":{"type":"request_too_large","message":"too large"}})");
  EXPECT_TRUE(ask("GET", "/v1/responses")->answered().body.starts_with(R"({"error":{)"));
}

TEST_F(ApplicationTest, OnlyABrowserOfAPageThatMayAskIsToldSo) {
  const auto asked = ask("OPTIONS", "/completion", {{"Origin", "https://example.org"}});
  EXPECT_EQ(asked->answered().status, 200);
  EXPECT_EQ(asked->header("Access-Control-Allow-Origin"), "https://example.org");
  const auto other = ask("OPTIONS", "/completion", {{"Origin", "https://example.net"}});
  EXPECT_EQ(other->answered().status, 200);
  EXPECT_EQ(other->header("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(other->header("Access-Control-Allow-Headers"), "");
  EXPECT_EQ(ask("POST", "/completion", {{"Origin", "https://example.net"}})->answered().status, 403);
}

TEST_F(ApplicationTest, RefusalsOfHttpCanBeReadByPagesThatMayAsk) {
  http::Request request;
  request.headers = {{"Origin", "https://example.org"}};
  const http::Answer answer = application_.refuse({413, "too large"}, request);
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(std::ranges::count(answer.headers, "Access-Control-Allow-Origin", &http::Header::name), 1);
}

}  // namespace
}  // namespace ingot
