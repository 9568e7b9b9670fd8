#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "server/http/test_server.h"

namespace ingot::http {
namespace {

constexpr std::string_view get_stream = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view get_after = "GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
constexpr std::string_view last_chunk = "0\r\n\r\n";

// Keeps the exchange of a request, and what its listener was told.
class StreamHandler : public TestHandler {
 public:
  StreamHandler() {
    on_request = [this](std::shared_ptr<Exchange> exchange) {
      if (exchange->request().path == "/after") return exchange->answer({200, {}, "after"});
      if (listens) exchange->on_pace([this](Pace pace) { paces.change([&](auto& all) { all.push_back(pace); }); });
      if (begins) exchange->begin_stream({200, {{"Content-Type", "text/event-stream"}}, ""}, ": ping\n\n");
      exchanges.set(std::move(exchange));
    };
  }

  std::shared_ptr<Exchange> take() {
    EXPECT_TRUE(exchanges.wait_for([](const auto& one) { return one != nullptr; }));
    std::shared_ptr<Exchange> one = exchanges.get();
    exchanges.set(nullptr);
    return one;
  }
  bool was_told(Pace pace) {
    return paces.wait_for([&](const auto& all) { return !all.empty() && all.back() == pace; });
  }

  bool listens = true;
  bool begins = true;
  Awaited<std::shared_ptr<Exchange>> exchanges;
  Awaited<std::vector<Pace>> paces;
};

Limits quick_limits() {
  Limits limits;
  limits.unsent_bytes = 64 << 10;
  limits.ping_time = std::chrono::milliseconds(80);
  return limits;
}

// What the chunks hold; "broken" where they are none.
std::string unchunk(std::string_view text) {
  std::string body;
  while (true) {
    const std::size_t line = text.find("\r\n");
    if (line == std::string_view::npos) return "broken";
    const std::size_t size = std::stoul(std::string(text.substr(0, line)), nullptr, 16);
    if (text.size() < line + 4 + size) return "broken";
    body += text.substr(line + 2, size);
    text.remove_prefix(line + 4 + size);
    if (size == 0) return text.empty() ? body : "broken";
  }
}

TEST(Stream, ComesInChunksAndIsFollowedByTheNextAnswer) {
  StreamHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  client.send(get_stream);
  const auto exchange = handler.take();
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("Content-Length"), std::string::npos) << head;
  exchange->write("one");
  EXPECT_EQ(client.read_until("one\r\n"), "3\r\none\r\n");
  client.send(get_after);  // waits for its turn
  exchange->write("");
  exchange->write("two");
  EXPECT_EQ(client.read_until("two\r\n"), "3\r\ntwo\r\n");
  exchange->end_stream();
  const std::string rest = client.read_all();
  EXPECT_TRUE(rest.starts_with(std::string(last_chunk) + "HTTP/1.1 200 OK")) << rest;
  EXPECT_TRUE(rest.ends_with("after")) << rest;
}

TEST(Stream, GathersWhatWaitsIntoOneChunk) {
  TestHandler handler;
  handler.on_request = [](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream({200, {}, ""}, "");
    for (int piece = 0; piece < 16; ++piece) exchange->write("0123456789abcdef");
    exchange->end_stream();
  };
  TestServer server(handler);
  TestClient client(server.port());
  client.send(get_stream);
  client.read_until("\r\n\r\n");
  EXPECT_TRUE(client.read_until(last_chunk).starts_with("100\r\n0123456789abcdef0123"));
}

TEST(Stream, LastsUntilTheEndOfTheConnectionForOldClients) {
  StreamHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto exchange = handler.take();
  exchange->write("one ");
  exchange->write("two");
  exchange->end_stream();
  const std::string all = client.read_all();
  EXPECT_TRUE(all.ends_with("\r\nConnection: close\r\n\r\none two")) << all;
  EXPECT_FALSE(client.was_reset());
}

TEST(Stream, IsHeadOnlyForHead) {
  StreamHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto exchange = handler.take();
  exchange->write("one");
  exchange->end_stream();
  client.send(get_after);
  client.read_until("\r\n\r\n");
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 200 OK"));
}

TEST(Stream, IsPingedWhileNothingElseIsSent) {
  StreamHandler handler;
  TestServer server(handler, quick_limits());
  TestClient client(server.port());
  client.send(get_stream);
  const auto exchange = handler.take();
  client.read_until("\r\n\r\n");
  for (int count = 0; count < 3; ++count) {
    EXPECT_EQ(client.read_until("\n\n\r\n"), "8\r\n: ping\n\n\r\n");
  }
}

TEST(Stream, IsCutOffWhereItIsLetGoOf) {
  StreamHandler handler;
  TestServer server(handler);
  for (const std::string_view version : {"1.1", "1.0"}) {
    TestClient client(server.port());
    client.send("GET /stream HTTP/" + std::string(version) + "\r\nHost: a\r\n\r\n");
    auto exchange = handler.take();
    exchange->write("one");
    client.read_until("one");
    exchange.reset();
    EXPECT_EQ(client.read_all().find(last_chunk), std::string::npos);
    EXPECT_EQ(client.was_reset(), version == "1.0");
  }
}

TEST(Stream, EndsWithItsClientHoweverThatLeaves) {
  for (const bool begins : {true, false}) {
    for (const int way : {0, 1, 2}) {
      StreamHandler handler;
      handler.begins = begins;
      TestServer server(handler);
      TestClient client(server.port());
      client.send(get_stream);
      const auto exchange = handler.take();
      if (way == 0) client.close();
      if (way == 1) client.reset();
      if (way == 2) client.half_close();
      EXPECT_TRUE(handler.was_told(Pace::gone)) << begins << " " << way;
      EXPECT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
      exchange->write("for nobody");
      exchange->end_stream();
    }
  }
}

TEST(Stream, TellsALateListenerThatTheClientHasLeft) {
  StreamHandler handler;
  handler.listens = false;
  TestServer server(handler);
  TestClient client(server.port());
  client.send(get_stream);
  const auto exchange = handler.take();
  client.close();
  ASSERT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
  exchange->on_pace([&](Pace pace) { handler.paces.set({pace}); });
  EXPECT_TRUE(handler.was_told(Pace::gone));
}

TEST(Stream, TellsNothingOnceTheAnswerIsComplete) {
  StreamHandler handler;
  handler.begins = false;
  TestServer server(handler);
  TestClient client(server.port());
  client.send(get_stream);
  handler.take()->answer({200, {}, "all"});
  EXPECT_TRUE(client.read_until("all").ends_with("all"));
  client.close();
  ASSERT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
  EXPECT_TRUE(handler.paces.get().empty());
}

TEST(Stream, SeesAClientLeaveThatSentMoreThanIsKept) {
  StreamHandler handler;
  handler.begins = false;  // nothing is sent that could fail
  Limits limits;
  limits.idle_time = std::chrono::milliseconds(80);  // of nobody here: it makes sweeps frequent
  TestServer server(handler, limits);
  TestClient client(server.port());
  client.send(get_stream);
  const auto exchange = handler.take();
  std::string requests;
  for (int number = 0; number < 4000; ++number) requests += get_stream;
  client.send(requests);
  ASSERT_TRUE(comes_true([&] { return server->counts().bytes_in > 64 << 10; }));
  client.close();
  EXPECT_TRUE(handler.was_told(Pace::gone));
}

TEST(Stream, TellsItsWriterWhenTheClientFallsBehindAndCatchesUp) {
  StreamHandler handler;
  TestServer server(handler, quick_limits());
  TestClient client(server.port(), 4096);
  client.send(get_stream);
  const auto exchange = handler.take();
  std::string expected;
  const std::string piece(4096, 'x');
  while (handler.paces.get().empty()) {
    exchange->write(piece);
    expected += piece;
    std::this_thread::yield();
  }
  EXPECT_EQ(handler.paces.get(), std::vector{Pace::full});
  client.read_until("\r\n\r\n");
  std::string chunks;
  while (handler.paces.get().size() == 1) chunks += client.read_until("\r\n");
  EXPECT_EQ(handler.paces.get(), (std::vector{Pace::full, Pace::drains}));
  exchange->write("end");
  exchange->end_stream();
  client.send(get_after);
  chunks += client.read_until("\r\n0\r\n\r\n");
  // Pings may stand between pieces.
  std::string body = unchunk(chunks);
  for (std::size_t at = body.find(": ping\n\n"); at != std::string::npos; at = body.find(": ping\n\n"))
    body.erase(at, 8);
  EXPECT_EQ(body.size(), expected.size() + 3);
  EXPECT_TRUE(body == expected + "end");
}

TEST(Stream, IsGivenUpWhereItsClientReadsNothing) {
  StreamHandler handler;
  Limits limits = quick_limits();
  limits.unread_time = std::chrono::milliseconds(100);
  TestServer server(handler, limits);
  TestClient client(server.port(), 4096);
  client.send(get_stream);
  const auto exchange = handler.take();
  const std::string piece(4096, 'x');
  while (handler.paces.get().empty()) {
    exchange->write(piece);
    std::this_thread::yield();
  }
  EXPECT_TRUE(handler.was_told(Pace::gone));
  EXPECT_EQ(server->counts().late, 1);
  EXPECT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
}

TEST(Stream, ManyStreamsOfOneThreadLoseNothing) {
  TestHandler handler;
  Awaited<std::vector<std::shared_ptr<Exchange>>> exchanges;
  handler.on_request = [&](std::shared_ptr<Exchange> exchange) {
    exchange->begin_stream({200, {}, ""}, "");
    exchanges.change([&](auto& all) { all.push_back(std::move(exchange)); });
  };
  TestServer server(handler);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int count = 0; count < 16; ++count) {
    clients.push_back(std::make_unique<TestClient>(server.port()));
    clients.back()->send(get_stream);
  }
  ASSERT_TRUE(exchanges.wait_for([](const auto& all) { return all.size() == 16; }));
  std::string expected;
  const auto all = exchanges.get();
  exchanges.set({});
  for (int token = 0; token < 500; ++token) {
    const std::string piece = std::to_string(token) + " ";
    for (const auto& exchange : all) exchange->write(piece);
    expected += piece;
  }
  for (const auto& exchange : all) exchange->end_stream();
  for (const auto& client : clients) {
    client->read_until("\r\n\r\n");
    EXPECT_EQ(unchunk(client->read_until("\r\n0\r\n\r\n")), expected);
  }
}

}  // namespace
}  // namespace ingot::http
