// Whoever asks, and however: the loop that the port stands beside goes on.
#include "server/broker_metrics/metrics_port.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "server/broker_metrics/metrics_address.h"
#include "server/http/test_server.h"

namespace ingot {
namespace {

using http::TestClient;

// A loop as the broker has one, on a thread of its own, that counts its turns.
class RunningPort {
 public:
  explicit RunningPort(MetricsPortLimits limits = {}, std::string text = "one 1\n")
      : port_(
            http::Listener::on_address("127.0.0.1", 0).value(), [text = std::move(text)] { return text; }, limits),
        thread_([this] { run(); }) {}
  ~RunningPort() {
    is_over_ = true;
    thread_.join();
  }
  int port() const { return port_.port(); }
  std::size_t most_waits() const { return most_waits_; }

 private:
  void run() {
    std::vector<pollfd> waits;
    while (!is_over_) {
      waits.clear();
      port_.add_waits(waits);
      most_waits_ = std::max(most_waits_.load(), waits.size());
      int milliseconds = 10;  // to see the end
      if (const auto next = port_.next_turn()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - SideWork::Clock::now()).count();
        milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, milliseconds));
      }
      ::poll(waits.data(), waits.size(), milliseconds);
      port_.turn(waits);
    }
  }

  MetricsPort port_;
  std::atomic<bool> is_over_ = false;
  std::atomic<std::size_t> most_waits_ = 0;
  std::thread thread_;
};

std::string answer_to(const RunningPort& port, std::string_view request) {
  TestClient client(port.port());
  EXPECT_TRUE(client.send(request));
  return client.read_all();
}

constexpr std::string_view get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(MetricsPort, AnswersWithTheTextOnceAndCloses) {
  const RunningPort port;
  const std::string answer = answer_to(port, get);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nContent-Length: 6\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\none 1\n")) << answer;
}

TEST(MetricsPort, AnswersARequestThatComesByteByByte) {
  const RunningPort port;
  TestClient client(port.port());
  for (const char letter : get) EXPECT_TRUE(client.send({&letter, 1}));
  EXPECT_TRUE(client.read_all().ends_with("one 1\n"));
}

TEST(MetricsPort, TellsAHeadWithoutABody) {
  const RunningPort port;
  const std::string answer = answer_to(port, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("\r\n\r\n") && answer.find("Content-Length: 6\r\n") != std::string::npos) << answer;
}

TEST(MetricsPort, RefusesWhatIsNoRequestForMetrics) {
  const RunningPort port;
  const std::pair<std::string, int> cases[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 403},  // a name that somebody let lead here
      {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: https://example.org\r\n\r\n", 403},
      {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 413},
      {"GET /metrics\r\n\r\n", 400},
      {"GET /metrics HTTP/1.1\r\n\r\n", 400},
      {"GET /metrics HTTP/2.0\r\n\r\n", 505},
      {"\x16\x03\x01\x02\x00\x01", 400},
      {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: " + std::string(9000, 'a'), 431},
      {"GET /" + std::string(2000, 'a'), 414},
  };
  for (const auto& [request, status] : cases) {
    const std::string answer = answer_to(port, request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ")) << request.substr(0, 80) << "\n"
                                                                                << answer;
  }
}

TEST(MetricsPort, LetsAClientReadWhyItsHugeRequestWasRefused) {
  const RunningPort port;
  TestClient client(port.port());
  EXPECT_TRUE(client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n"));
  const std::string header = "A: " + std::string(4000, 'a') + "\r\n";
  for (int count = 0; count < 100; ++count) EXPECT_TRUE(client.send(header));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 431 "));
  // A port that had closed would answer what still comes with a reset, which may overtake the 431.
  for (int count = 0; count < 20; ++count) {
    EXPECT_TRUE(client.send(header));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(MetricsPort, EndsWithOneWhoSendsForEver) {
  const RunningPort port({.visit_time = std::chrono::hours(1), .unread_bytes = 64 << 10});
  TestClient client(port.port());
  const std::string piece(64 << 10, 'a');
  EXPECT_TRUE(http::comes_true([&] { return !client.send(piece); }));
}

TEST(MetricsPort, EndsWithThoseWhoTakeTooLong) {
  const RunningPort port({.visit_time = std::chrono::milliseconds(50)});
  TestClient silent(port.port());
  TestClient slow(port.port());
  EXPECT_TRUE(slow.send("GET /metr"));
  EXPECT_TRUE(silent.is_ended());
  EXPECT_TRUE(slow.is_ended());
}

TEST(MetricsPort, EndsWithOneWhoDoesNotRead) {
  const RunningPort port({.visit_time = std::chrono::milliseconds(200)}, std::string(64 << 20, 'a'));
  TestClient deaf(port.port(), 4096);
  EXPECT_TRUE(deaf.send(get));
  // Nobody reads for as long as another one, who came later, waits to be given up.
  TestClient other(port.port());
  EXPECT_TRUE(other.is_ended());
  const std::string part = deaf.read_all();
  EXPECT_TRUE(part.size() < (64 << 20)) << part.size();
}

TEST(MetricsPort, AnswersBesideManyWhoOnlyHoldConnections) {
  const RunningPort port({.visitors = 4});
  std::vector<std::unique_ptr<TestClient>> slow;
  for (int count = 0; count < 50; ++count) {
    slow.push_back(std::make_unique<TestClient>(port.port()));
    slow.back()->send("GET /");
  }
  for (int count = 0; count < 5; ++count) EXPECT_TRUE(answer_to(port, get).ends_with("one 1\n"));
  EXPECT_TRUE(slow.front()->is_ended());
  EXPECT_LE(port.most_waits(), 1U + 4U);
}

TEST(MetricsPort, OutlivesThoseWhoLeaveAtAnyMoment) {
  const RunningPort port({}, std::string(1 << 20, 'a'));
  for (std::size_t length = 0; length <= get.size(); ++length) {
    TestClient client(port.port());
    client.send(get.substr(0, length));
    if (length % 2 == 0) client.reset();
  }
  EXPECT_TRUE(answer_to(port, get).ends_with("aaa"));
}

TEST(MetricsPort, ReadsOneRequestOfAConnection) {
  const RunningPort port;
  const std::string answer = answer_to(port, std::string(get) + std::string(get));
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST(MetricsAddress, IsOfLoopbackUnlessSaidOtherwise) {
  const std::pair<std::string_view, std::string> cases[] = {{"9100", "127.0.0.1:9100"},
                                                            {":9100", "127.0.0.1:9100"},
                                                            {"0.0.0.0:0", "0.0.0.0:0"},
                                                            {"[::1]:65535", "[::1]:65535"}};
  for (const auto& [text, expected] : cases) {
    const Result<MetricsAddress> address = MetricsAddress::of(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address.value().text(), expected);
  }
}

TEST(MetricsAddress, RefusesWhatHasNoPort) {
  for (const std::string_view text : {"", ":", "127.0.0.1", "127.0.0.1:", "::1", "::1:9100", "[::1]", "a:65536", "a:-1",
                                      "a:+1", "a:1 ", "a: 1", "a:1x"}) {
    EXPECT_FALSE(MetricsAddress::of(text).ok()) << text;
  }
}

}  // namespace
}  // namespace ingot
