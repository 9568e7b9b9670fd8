// Embeddings as a client sees them: the server in this process, its passes run when a test says so.
#include "server/embedding_answers.h"

#include <gtest/gtest.h>

#include <csignal>

#include "server/http/test_server.h"
#include "server/serving.h"
#include "server/test_embedder.h"
#include "server/test_post.h"

namespace ingot {
namespace {

class EmbeddingAnswersTest : public ::testing::Test {
 protected:
  void serve(ServingOptions options = {}, std::int64_t queue = 256) {
    options.http.port = 0;
    options.log = LogForm::none;
    serving_ = Serving::create(options).value();
    HostedModelOptions hosted = {.id = "bert"};
    hosted.service.queue = queue;
    ASSERT_TRUE(serving_->add(open_embedder(), hosted).ok());
    ASSERT_TRUE(serving_->open());
  }

  void run_passes() {
    passes_ = std::thread([this] { serving_->run(); });
  }

  void TearDown() override {
    if (!passes_.joinable()) return;
    ::kill(::getpid(), SIGTERM);
    passes_.join();
  }

  std::string answer_to(const std::string& request) const {
    http::TestClient client(serving_->port());
    client.send(request);
    return client.read_all();
  }
  std::string ask(const std::string& body) const { return answer_to(post_of("/v1/embeddings", body)); }

  // Of a metric with these labels and the model's.
  std::string figure(const std::string& name, const std::string& labels = "") const {
    const std::string text = answer_to("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string line = "\n" + name + "{model_name=\"bert\"" + labels + "} ";
    const std::size_t begin = text.find(line);
    if (begin == std::string::npos) return "none";
    return text.substr(begin + line.size(), text.find('\n', begin + 1) - begin - line.size());
  }
  void wait_for(const std::string& name, const std::string& value) const {
    for (int attempt = 0; attempt < http::long_enough_milliseconds && figure(name) != value; ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::unique_ptr<Serving> serving_;
  std::thread passes_;
};

TEST_F(EmbeddingAnswersTest, ARequestIsAnsweredWholeAndCounted) {
  serve();
  run_passes();
  const std::string answer = ask(R"({"input":["a b","c","d e f"],"encoding_format":"base64"})");
  EXPECT_NE(answer.find("200 OK"), std::string::npos) << answer;
  EXPECT_NE(answer.find(R"("index":2)"), std::string::npos);
  EXPECT_NE(answer.find(R"("prompt_tokens":6)"), std::string::npos);
  EXPECT_EQ(figure("ingot_prompt_tokens_total"), "6");
  EXPECT_EQ(figure("ingot_prompt_tokens_computed_total"), "6");
  EXPECT_EQ(figure("ingot_passes_total", R"(,kind="prompts")"), "3");  // with room for one sequence
  EXPECT_EQ(figure("ingot_request_success_total", R"(,finished_reason="stop")"), "1");
  EXPECT_EQ(figure("ingot_e2e_request_latency_seconds_count"), "1");
  EXPECT_EQ(figure("ingot_request_prompt_tokens_sum"), "6");
  EXPECT_EQ(figure("ingot_prefix_cache_queries_total"), "0");
  EXPECT_EQ(figure("ingot_num_requests_running"), "0");
}

TEST_F(EmbeddingAnswersTest, MoreRequestsThanMayWaitAreRefusedAndCounted) {
  serve({}, 1);
  http::TestClient first(serving_->port());
  first.send(post_of("/v1/embeddings", R"({"input":"a"})"));
  wait_for("ingot_num_requests_waiting", "1");
  const std::string refused = ask(R"({"input":"b"})");
  EXPECT_NE(refused.find("429 "), std::string::npos) << refused;
  EXPECT_NE(refused.find("Retry-After: "), std::string::npos);
  EXPECT_EQ(figure("ingot_requests_refused_total"), "1");
  run_passes();
  EXPECT_NE(first.read_all().find("200 OK"), std::string::npos);
}

TEST_F(EmbeddingAnswersTest, ADeadlineIsTold) {
  ServingOptions options;
  options.deadline_seconds = 1e-6;
  serve(options);
  run_passes();
  const std::string answer = ask(R"({"input":["a","b"]})");
  EXPECT_NE(answer.find("504 "), std::string::npos) << answer;
  EXPECT_EQ(figure("ingot_request_success_total", R"(,finished_reason="deadline")"), "1");
}

TEST_F(EmbeddingAnswersTest, WhoWaitsWhenTheServerEndsIsTold) {
  ServingOptions options;
  options.drain = std::chrono::seconds(0);
  serve(options);
  std::string texts = "[1]";
  for (int count = 1; count < 2048; ++count) texts += ",[1,2,3,4,5,6,7,8,9,10]";
  std::vector<std::unique_ptr<http::TestClient>> clients;
  for (int count = 0; count < 8; ++count) {
    clients.push_back(std::make_unique<http::TestClient>(serving_->port()));
    clients.back()->send(post_of("/v1/embeddings", R"({"input":[)" + texts + "]}"));
  }
  wait_for("ingot_num_requests_waiting", "8");
  ::kill(::getpid(), SIGTERM);
  while (http::TestClient(serving_->port()).is_connected()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  run_passes();
  EXPECT_NE(clients.back()->read_all().find("cancelled before its end"), std::string::npos);
  clients.clear();
  passes_.join();
}

TEST_F(EmbeddingAnswersTest, OneWhoLeavesIsForgotten) {
  serve({}, 1);
  {
    http::TestClient leaver(serving_->port());
    leaver.send(post_of("/v1/embeddings", R"({"input":"a"})"));
    wait_for("ingot_num_requests_waiting", "1");
    leaver.reset();
  }
  run_passes();
  wait_for("ingot_num_requests_waiting", "0");
  EXPECT_NE(ask(R"({"input":"a"})").find("200 OK"), std::string::npos);
}

}  // namespace
}  // namespace ingot
