// A whole server in this process, asked by several threads at once: for the sanitizers, which see no other program.
#include "server/serving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "engine/random_adapter.h"
#include "model/files/test_files.h"
#include "server/http/test_server.h"
#include "server/test_post.h"

namespace ingot {
namespace {

ServingOptions serving_options() {
  ServingOptions options;
  options.http.port = 0;
  options.log = LogForm::none;
  options.drain = std::chrono::seconds(60);
  return options;
}

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Serving>> created = Serving::create(serving_options());
    ASSERT_TRUE(created.ok()) << created.error().text();
    serving_ = std::move(created).value();
    const auto model = Model::open_default();
    ASSERT_TRUE(model.ok()) << model.error().text();
    HostedModelOptions hosted = {.id = "tales"};
    hosted.session.threads = 2;
    hosted.session.sequences = 4;
    hosted.session.pages = 10;  // so few that some have to wait, and some to give theirs back
    const RandomAdapter adapter(*model.value(), {"attn_v.weight", "ffn_down.weight"}, 2, 1, 12);
    ASSERT_TRUE(adapter.write(folder_.file("poet.gguf")).ok());
    const auto poet = Adapter::open(folder_.file("poet.gguf"), *model.value());
    ASSERT_TRUE(poet.ok()) << poet.error().text();
    hosted.session.adapters = {poet.value()};
    hosted.adapters = {{.name = "poet", .scale = 0.5f}};
    const auto added = serving_->add(model.value(), hosted);
    ASSERT_TRUE(added.ok()) << added.error().text();
    ASSERT_TRUE(serving_->open());
    passes_ = std::thread([this] { serving_->run(); });
  }

  void TearDown() override {
    if (!passes_.joinable()) return;
    ::kill(::getpid(), SIGTERM);
    passes_.join();
  }

  std::string ask(std::string_view path, const std::string& body) {
    http::TestClient client(serving_->port());
    client.send(post_of(path, body));
    return client.read_all();
  }

  std::string get(std::string_view path, std::string_view method = "GET") {
    http::TestClient client(serving_->port());
    client.send(std::string(method) + " " + std::string(path) +
                " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return client.read_all();
  }

  TemporaryFolder folder_;
  std::unique_ptr<Serving> serving_;
  std::thread passes_;
};

TEST_F(ServingTest, AdaptersAreAskedForByNameOrByNumber) {
  const auto text_of = [&](const std::string& fields) {
    const std::string answer =
        ask("/v1/completions", R"({"prompt":"\nOnce there was","max_tokens":12,"temperature":0,)" + fields + "}");
    const std::size_t begin = answer.find("\"text\":");
    return begin == std::string::npos ? answer : answer.substr(begin, answer.find("\",", begin) - begin);
  };
  const std::string plain = text_of(R"("model":"tales")"), poet = text_of(R"("model":"tales:poet")");
  EXPECT_NE(plain, poet);
  EXPECT_EQ(text_of(R"("lora":[{"id":0,"scale":0.5}])"), poet);
  EXPECT_EQ(text_of(R"("lora":[{"id":0,"scale":0}])"), plain);
  EXPECT_NE(ask("/v1/completions", R"({"prompt":"a","model":"tales:poet"})").find(R"("model":"tales:poet")"),
            std::string::npos);
  EXPECT_NE(text_of(R"("model":"tales:poet","lora":[{"id":0,"scale":1}])").find("400"), std::string::npos);
  const std::string unknown = text_of(R"("model":"tales:other")");
  EXPECT_NE(unknown.find("404"), std::string::npos);
  EXPECT_NE(unknown.find("(tales, tales:poet)"), std::string::npos) << unknown;
  EXPECT_NE(get("/lora-adapters").find(R"([{"id":0,"path":)"), std::string::npos);
  EXPECT_NE(get("/lora-adapters", "POST").find("405"), std::string::npos);
  EXPECT_NE(get("/v1/models").find(R"("id":"tales:poet")"), std::string::npos);
  EXPECT_NE(get("/v1/models/tales:poet").find(R"("parent":"tales")"), std::string::npos);
}

TEST_F(ServingTest, ManyThreadsAskStreamLeaveAndLookAtFigures) {
  std::atomic<int> whole = 0, streamed = 0;
  const auto client = [&](int number) {
    for (int round = 0; round < 4; ++round) {
      const std::string fields = R"("prompt":"\nOnce there was a fox","max_tokens":)" +
                                 std::to_string(20 + 9 * number) +
                                 R"(,"temperature":0.7,"ignore_eos":true,"n":2,"logprobs":1)";
      whole += ask("/v1/completions", "{" + fields + "}").find("\"usage\"") != std::string::npos;
      streamed += ask("/v1/completions", "{" + fields + ",\"stream\":true}").find("data: [DONE]") != std::string::npos;
      http::TestClient leaver(serving_->port());
      leaver.send(post_of("/v1/completions", "{" + fields + ",\"stream\":true}"));
      if (number % 2 == 0) leaver.read_until("data: ");
      leaver.reset();
      http::TestClient looker(serving_->port());
      looker.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      EXPECT_NE(looker.read_all().find("ingot_passes_total"), std::string::npos);
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(client, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, 16);
  EXPECT_EQ(streamed, 16);
}

TEST_F(ServingTest, WhatRunsWhenASignalComesIsAnsweredFirst) {
  http::TestClient client(serving_->port());
  client.send(post_of("/v1/completions", R"({"prompt":"\nOnce","max_tokens":100,"ignore_eos":true,"stream":true})"));
  EXPECT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
  ::kill(::getpid(), SIGTERM);
  EXPECT_NE(client.read_all().find("data: [DONE]"), std::string::npos);
  client.close();
  passes_.join();
}

TEST_F(ServingTest, MoreChoicesThanMayEverWaitAreWrong) {
  std::string prompts = "[1]";
  for (int i = 1; i < 30; ++i) prompts += ",[1]";
  const std::string fields = "{\"prompt\":[" + prompts + "],\"max_tokens\":1,\"stop\":\"xyz\",\"n\":";
  const std::string refused = ask("/v1/completions", fields + "10}");
  EXPECT_NE(refused.find("400 Bad Request"), std::string::npos) << refused;
  EXPECT_NE(refused.find("at most 256 choices"), std::string::npos) << refused;
  EXPECT_NE(refused.find("found 300"), std::string::npos) << refused;
  const std::string answered = ask("/v1/completions", fields + "2}");
  EXPECT_NE(answered.find("\"index\":59"), std::string::npos) << answered;
}

TEST_F(ServingTest, WhoIsServedByNobodyIsToldWhy) {
  EXPECT_NE(ask("/v1/completions", "{").find("400 Bad Request"), std::string::npos);
  EXPECT_NE(ask("/v1/embeddings", R"({"input":"x"})").find("makes embeddings"), std::string::npos);
  const std::string chat = ask("/v1/chat/completions", R"({"messages":[{"role":"user","content":"x"}]})");
  EXPECT_NE(chat.find(R"("message":"expected a model with a chat template, found none in tales: ask )"),
            std::string::npos)
      << chat;
}

// Each in a process of its own, which it ends.
class ServingDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void send_signals(int signal) {
    for (int count = 0; count < 3000; ++count) {
      ::kill(::getpid(), signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  static void load_for_ever() {
    const auto serving = Serving::create(serving_options());
    send_signals(SIGTERM);
  }
  static void compute_for_ever() {
    const auto serving = Serving::create(serving_options());
    if (serving.value()->open()) send_signals(SIGINT);
  }
};

TEST_F(ServingDeathTest, ASignalWhileAModelIsLoadedEndsTheProcess) {
  EXPECT_EXIT(load_for_ever(), ::testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST_F(ServingDeathTest, ASignalAfterTheDrainEndsTheProcess) {
  EXPECT_EXIT(compute_for_ever(), ::testing::ExitedWithCode(128 + SIGINT), "");
}

}  // namespace
}  // namespace ingot
