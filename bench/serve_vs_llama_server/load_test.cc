// Against a server of few words on loopback: what it is sent, and what is noted of its answers.
#include "bench/serve_vs_llama_server/load.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/serve_vs_llama_server/statistics.h"

namespace ingot::load {
namespace {

class Client {
 public:
  explicit Client(int descriptor) : descriptor_(descriptor) {}

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return;  // it may leave early
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void wait_until_it_leaves() const {
    char byte = 0;
    while (recv(descriptor_, &byte, 1, 0) > 0) {
    }
  }

 private:
  int descriptor_;
};

// Answers each connection on a thread of its own.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<void(const std::string& request, const Client& client)> answer)
      : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    auto* plain = reinterpret_cast<sockaddr*>(&address_);
    if (bind(listener_, plain, length) != 0 || listen(listener_, 64) != 0) std::abort();
    getsockname(listener_, plain, &length);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    for (std::thread& thread : threads_) thread.join();
  }

  const sockaddr_in& address() const { return address_; }

 private:
  void accept_all() {
    for (int client = 0; (client = accept(listener_, nullptr, nullptr)) >= 0;) {
      threads_.emplace_back([this, client] { serve(client); });
    }
  }
  void serve(int client) {
    std::string request;
    char bytes[4096];
    const auto is_whole = [&] {
      const std::size_t end = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (end == request.npos) return false;
      return length == request.npos || request.size() >= end + 4 + std::stoul(request.substr(length + 16));
    };
    while (!is_whole()) {
      const ssize_t count = recv(client, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      request.append(bytes, static_cast<std::size_t>(count));
    }
    answer_(request, Client(client));
    close(client);
  }

  std::function<void(const std::string&, const Client&)> answer_;
  int listener_ = -1;
  sockaddr_in address_ = {};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

std::string stream_of(int tokens) {
  std::string body = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  for (int token = 0; token < tokens; ++token) body += "data: {\"choices\":[{\"text\":\"x\"}]}\n\n";
  body +=
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":" + std::to_string(tokens) + "}}\n\n";
  return body + "data: [DONE]\n\n";
}

TEST(RunLoad, SendsEveryRequestAndReadsEveryEvent) {
  ScriptedServer server([](const std::string& request, const Client& client) {
    EXPECT_TRUE(request.starts_with("POST /v1/completions HTTP/1.1\r\n"));
    client.send(stream_of(3));
  });
  const auto record = run_load(
      {.address = server.address(), .workload = {.requests = 20, .prompt_tokens = 5000, .tokens = 3}, .clients = 4});
  ASSERT_TRUE(record.ok());
  const Totals totals = totals_of(record.value().requests);
  EXPECT_EQ(totals.answered, 20);
  EXPECT_EQ(totals.too_short, 0);
  EXPECT_EQ(totals.events, 60);
  EXPECT_EQ(totals.prompt_tokens, 100);
  EXPECT_LE(record.value().window_end, record.value().seconds);
}

TEST(RunLoad, SendsRequestsThatHaveATimeThen) {
  ScriptedServer server([](const std::string&, const Client& client) { client.send(stream_of(1)); });
  const auto record = run_load(
      {.address = server.address(), .workload = {.requests = 30, .prompt_tokens = 4, .tokens = 1, .rate = 500}});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(totals_of(record.value().requests).answered, 30);
  EXPECT_GE(record.value().seconds, record.value().requests.back().sent);
  EXPECT_GT(record.value().requests.back().sent, 0);
}

TEST(RunLoad, CountsFailuresWithTheirReasons) {
  const auto failure_of = [](std::string answer) {
    ScriptedServer server([&](const std::string&, const Client& client) { client.send(answer); });
    const auto record = run_load({.address = server.address(), .workload = {.requests = 1, .prompt_tokens = 4}});
    EXPECT_TRUE(record.ok());
    EXPECT_EQ(record.value().requests[0].outcome, Outcome::failed);
    return record.value().requests[0].failure;
  };
  EXPECT_EQ(
      failure_of("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 29\r\n\r\n{\"error\":{\"message\":\"later\"}}"),
      "429: later");
  EXPECT_EQ(failure_of("HTTP/1.1 200 OK\r\n\r\ndata: {\"choices\":[{\"text\":\"x\"}]}\n\n"),
            "expected [DONE] at the end of the stream");
  EXPECT_EQ(failure_of("HTTP/1.1 200 OK\r\n\r\ndata: {\"error\":{\"message\":\"a pass failed\"}}\n\n"),
            "a pass failed");
  EXPECT_NE(failure_of(""), "");
}

TEST(RunLoad, NoticesAnswersThatAreTooShort) {
  ScriptedServer server([](const std::string&, const Client& client) { client.send(stream_of(2)); });
  const auto record =
      run_load({.address = server.address(), .workload = {.requests = 1, .prompt_tokens = 4, .tokens = 3}});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(totals_of(record.value().requests).too_short, 1);
}

TEST(RunLoad, SaysWhereNobodyListens) {
  sockaddr_in address;
  {
    ScriptedServer server([](const std::string&, const Client&) {});
    address = server.address();
  }
  const auto record = run_load({.address = address, .workload = {.requests = 3, .prompt_tokens = 4}});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(totals_of(record.value().requests).failed, 3);
}

TEST(RunLoad, EndsWhenTheIntruderIsAnswered) {
  ScriptedServer server([](const std::string& request, const Client& client) {
    if (request.find("\"max_tokens\":9") == request.npos) return client.send(stream_of(4));
    const std::string whole = stream_of(9);
    client.send(std::string_view(whole).substr(0, whole.find("data: {\"choices\":[]")));
    client.wait_until_it_leaves();
  });
  const auto record = run_load({.address = server.address(),
                                .workload = {.requests = 3, .prompt_tokens = 4, .tokens = 9, .intruder_tokens = 50},
                                .clients = 3,
                                .most_seconds = 60,
                                .intruder_after = 5});
  ASSERT_TRUE(record.ok());
  ASSERT_TRUE(record.value().has_intruder);
  const RequestRecord& intruder = record.value().requests.back();
  EXPECT_EQ(intruder.outcome, Outcome::answered);
  EXPECT_EQ(intruder.events.size(), 4U);
  for (const RequestRecord& stream : std::span(record.value().requests).first(3)) {
    EXPECT_EQ(stream.outcome, Outcome::abandoned);
    ASSERT_GE(stream.events.size(), 5U);
    EXPECT_LE(stream.events[4], intruder.sent);
  }
}

TEST(RunLoad, AsksTheProbeBesideTheLoad) {
  ScriptedServer server([](const std::string& request, const Client& client) {
    const bool is_probe = request.starts_with("GET /health HTTP/1.1\r\n");
    client.send(is_probe ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" : stream_of(1));
  });
  const auto record = run_load({.address = server.address(),
                                .workload = {.requests = 100, .prompt_tokens = 4, .tokens = 1, .rate = 500},
                                .probe_path = "/health",
                                .probe_interval = 0.001});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(totals_of(record.value().requests).answered, 100);
  EXPECT_GT(record.value().probe.seconds.size(), 0U);
  EXPECT_EQ(record.value().probe.failures, 0);
}

TEST(RunLoad, RefusesWhatItCannotDo) {
  EXPECT_FALSE(run_load({.clients = 0}).ok());
  EXPECT_FALSE(run_load({.most_seconds = 0}).ok());
  EXPECT_FALSE(run_load({.workload = {.requests = 0}}).ok());
}

}  // namespace
}  // namespace ingot::load
