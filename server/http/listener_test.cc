#include "server/http/listener.h"

#include <gtest/gtest.h>

#include "server/http/test_server.h"

namespace ingot::http {
namespace {

TEST(Listener, TakesNobodyForSomebodyOfAUnixSocket) {
  Listener listener = std::move(Listener::on_address("127.0.0.1", 0)).value();
  const int port = listener.port();
  const int listening = listener.take_descriptor();
  TestClient staying(port), leaving(port);
  ASSERT_TRUE(staying.is_connected() && leaving.is_connected());
  leaving.reset();  // before it is accepted
  for (const bool stays : {true, false}) {
    pollfd ready{listening, POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, long_enough_milliseconds), 1);
    const int accepted = ::accept(listening, nullptr, nullptr);
    const std::optional<Client> client = client_of(accepted);
    EXPECT_EQ(client.has_value(), stays);
    if (client) {
      EXPECT_EQ(client->peer, "127.0.0.1");
    }
    ::close(accepted);
  }
  ::close(listening);
}

TEST(Listener, LetsGoOfWhoLeftBeforeTheyWereAccepted) {
  TestHandler handler;
  ServerOptions options;
  options.port = 0;
  const auto server = Server::create(options, handler).value();
  TestClient leaving(server->port()), staying(server->port());
  leaving.reset();
  std::thread loop([&] { server->run(); });
  staying.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(staying.read_all().ends_with("GET / "));
  EXPECT_EQ(server->counts().accepted, 1);
  server->stop();
  loop.join();
}

}  // namespace
}  // namespace ingot::http
