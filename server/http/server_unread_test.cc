// Clients that ask and do not read.
#include <gtest/gtest.h>

#include "server/http/test_server.h"

namespace ingot::http {
namespace {

constexpr std::string_view get_unread = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::size_t large_bytes = 32 << 20;  // more than sockets hold

// Answers /large with much, others with little, /stream with a stream that it ends.
class LargeHandler : public TestHandler {
 public:
  LargeHandler() {
    on_request = [this](const std::shared_ptr<Exchange>& exchange) {
      const std::string& path = exchange->request().path;
      if (path != "/stream") return exchange->answer({200, {}, std::string(path == "/large" ? large_bytes : 10, 'x')});
      exchange->on_pace([this](Pace pace) { paces.change([&](auto& all) { all.push_back(pace); }); });
      exchange->begin_stream({200, {}, ""}, "");
      exchange->write("piece");
      streams.change([&](auto& all) { all.push_back(exchange); });
    };
  }
  Awaited<std::vector<Pace>> paces;
  Awaited<std::vector<std::shared_ptr<Exchange>>> streams;
};

TEST(ServerUnread, AByteNowAndThenIsNoReading) {
  LargeHandler handler;
  ServerOptions options;
  options.host = "";
  options.unix_path =
      "/tmp/ingot_unread_test_" + std::to_string(::getpid());  // its buffers are small: all goes on often
  options.limits.unread_time = std::chrono::milliseconds(300);
  options.limits.least_bytes_a_second = std::int64_t{1} << 40;  // than which nobody is faster
  TestServer server(handler, options);
  TestClient client(options.unix_path);
  client.send(get_unread);
  char bytes[4096];
  std::size_t received = 0;
  for (ssize_t count = 1; count > 0 && server->counts().late == 0;) {
    count = ::recv(client.socket(), bytes, sizeof(bytes), 0);
    if (count > 0) received += static_cast<std::size_t>(count);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(received, large_bytes);
  EXPECT_EQ(server->counts().late, 1);
  EXPECT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
}

TEST(ServerUnread, AnswersWaitForRoomOfAllThatNobodyReads) {
  LargeHandler handler;
  Limits limits;
  limits.all_unsent_bytes = 1 << 20;
  TestServer server(handler, limits);
  TestClient unread(server.port(), 4096);
  unread.send(get_unread);
  unread.read_until("\r\n\r\n");  // it has been answered, and most of it waits
  TestClient other(server.port());
  other.send(get_unread);
  EXPECT_TRUE(other.read_until("room for").starts_with("HTTP/1.1 503 "));
  other.send("GET /small HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(other.read_until("xxx").starts_with("HTTP/1.1 200 "));
  other.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  other.read_until("\r\n\r\n");
  EXPECT_EQ(other.read_until("room for"), "more answers wait to be read by others than there is room for");
  EXPECT_TRUE(handler.paces.wait_until({Pace::gone}));
  for (const auto& stream : handler.streams.get()) stream->write("for nobody");
  handler.streams.set({});
  EXPECT_EQ(refused_with(503, server->counts()), 2);
  unread.close();
  ASSERT_TRUE(comes_true([&] { return server->counts().connections == 1; }));
  other.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_GT(other.read_all().size(), large_bytes);
}

}  // namespace
}  // namespace ingot::http
