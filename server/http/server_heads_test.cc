// What is decided by a head alone, and what is told of requests that were not read to their end.
#include <gtest/gtest.h>

#include "server/http/test_server.h"

namespace ingot::http {
namespace {

constexpr std::string_view large_post = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n";

// Wants no body, and refuses by itself.
class ClosedHandler : public TestHandler {
 public:
  ClosedHandler() {
    on_head = [](const Request& head) { return head.header("Key") != nullptr; };
    on_request = [this](const std::shared_ptr<Exchange>& exchange) {
      const Request& request = exchange->request();
      if (on_head(request)) return exchange->answer({200, {}, "read " + request.body});
      exchange->answer({401, {}, request.peer + " " + request.path + " [" + request.body + "]"});
    };
  }
};

TEST(ServerHeads, ABodyThatNobodyWantsIsNotReadAndNotAskedFor) {
  ClosedHandler handler;
  TestServer server(handler);
  for (const std::string_view rest : {"\r\n", "\r\nxxx", "Expect: 100-continue\r\n\r\n"}) {
    TestClient client(server.port());
    client.send(std::string(large_post) + std::string(rest));
    const std::string answer = client.read_all();  // to the connection's end
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
    EXPECT_TRUE(answer.ends_with("127.0.0.1 /a []")) << answer;
  }
  TestClient chunked(server.port());
  chunked.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
  EXPECT_TRUE(chunked.read_all().ends_with(" []"));
}

TEST(ServerHeads, ABodyThatIsWantedIsRead) {
  ClosedHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nKey: right\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  EXPECT_TRUE(client.read_until("read hello").ends_with("read hello"));
  // What came whole is refused as well, and costs no connection.
  client.send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /c HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(client.read_until("/b [hello]").ends_with("/b [hello]"));
  EXPECT_TRUE(client.read_until("/c []").ends_with("/c []"));
}

TEST(ServerHeads, HeadsThatNeverEndAreHeldOnlySoFar) {
  TestHandler handler;
  Limits limits;
  limits.body_bytes = 1;
  limits.all_read_bytes = limits.peer_read_bytes = 0;  // raised to two of the largest, and to one
  TestServer server(handler, limits);
  std::vector<std::unique_ptr<TestClient>> clients;
  const std::string begin = "GET /a HTTP/1.1\r\nHost: a\r\nb: " + std::string(15'000, 'c');
  for (int count = 1; count <= 5; ++count) {
    clients.push_back(std::make_unique<TestClient>(server.port()));
    clients.back()->send(begin);
    ASSERT_TRUE(comes_true([&] { return server->counts().bytes_in == count * std::ssize(begin); }));
  }
  EXPECT_TRUE(clients.back()->read_all().starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(handler.refused.get(), std::vector<std::string>{"503 127.0.0.1 GET /a"});
  EXPECT_EQ(refused_with(503, server->counts()), 1);
  clients.clear();
  ASSERT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
  TestClient later(server.port());
  later.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(later.read_all().ends_with("GET /a "));
}

TEST(ServerHeads, TheLargestBodyFitsWhateverTheLimitsSay) {
  TestHandler handler;
  Limits limits;
  limits.body_bytes = 300'000;
  limits.all_read_bytes = limits.peer_read_bytes = 1000;
  TestServer server(handler, limits);
  TestClient client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\nConnection: close\r\n\r\n");
  client.send(std::string(300'000, 'x'));
  EXPECT_TRUE(client.read_until("\r\n").starts_with("HTTP/1.1 200 "));
}

TEST(ServerHeads, WhatIsKnownOfARefusedRequestIsTold) {
  TestHandler handler;
  Limits limits;
  limits.body_bytes = 10;
  TestServer server(handler, limits);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nonsense\r\n\r\n", "400 127.0.0.1  "},
      {"GET /%zz HTTP/1.1\r\n", "400 127.0.0.1 GET "},
      {"POST /a%20b HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", "413 127.0.0.1 POST /a b"},
      {"PUT /a HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", "417 127.0.0.1 PUT /a"},
      {"GET /a HTTP/3.0\r\n\r\n", "505 127.0.0.1  "},
  };
  for (const auto& [text, line] : cases) {
    TestClient client(server.port());
    client.send(text);
    EXPECT_EQ(client.read_all().substr(9, 3), line.substr(0, 3)) << text;
    EXPECT_EQ(handler.refused.get().back(), line);
  }
  EXPECT_EQ(refused_with(400, server->counts()), 2);
  for (const int status : {413, 417, 505}) EXPECT_EQ(refused_with(status, server->counts()), 1) << status;
}

}  // namespace
}  // namespace ingot::http
