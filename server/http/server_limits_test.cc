#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "server/http/test_server.h"

namespace ingot::http {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view get_limited = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

// Answers when it is told to.
class PatientHandler : public TestHandler {
 public:
  PatientHandler() {
    on_request = [this](std::shared_ptr<Exchange> exchange) {
      exchanges.change([&](auto& all) { all.push_back(std::move(exchange)); });
    };
  }
  bool has_been_asked(std::size_t times) {
    return exchanges.wait_for([&](const auto& all) { return all.size() == times; });
  }
  Awaited<std::vector<std::shared_ptr<Exchange>>> exchanges;
};

TEST(ServerLimits, GivesUpAHeadThatComesTooSlowly) {
  TestHandler handler;
  Limits limits;
  limits.head_time = milliseconds(60);
  TestServer server(handler, limits);
  TestClient silent(server.port());
  silent.send("GET /a HT");
  EXPECT_TRUE(silent.read_all().starts_with("HTTP/1.1 408 "));
  // One byte at a time is no excuse.
  TestClient trickling(server.port());
  trickling.send("GET /a HTTP/1.1\r\n");
  std::atomic<bool> is_told = false;
  std::thread sender([&] {
    while (!is_told && trickling.send("a: b\r\n")) std::this_thread::sleep_for(milliseconds(5));
  });
  EXPECT_TRUE(trickling.read_until("too slowly").starts_with("HTTP/1.1 408 "));
  is_told = true;
  sender.join();
  EXPECT_EQ(server->counts().late, 2);
  EXPECT_EQ(refused_with(408, server->counts()), 2);
}

TEST(ServerLimits, GivesUpABodyThatComesTooSlowly) {
  TestHandler handler;
  Limits limits;
  limits.head_time = milliseconds(60);
  TestServer server(handler, limits);
  TestClient silent(server.port());
  silent.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  EXPECT_TRUE(silent.read_all().starts_with("HTTP/1.1 408 "));
  // A good beginning is none either.
  TestClient tired(server.port());
  tired.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n" + std::string(1'000'000, 'a'));
  EXPECT_TRUE(tired.read_all().starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(server->counts().late, 2);
}

TEST(ServerLimits, ReadsASlowBodyThatIsFastEnough) {
  TestHandler handler;
  Limits limits;
  limits.head_time = milliseconds(800);  // no wait of this thread is as long, the body as a whole is longer
  limits.least_bytes_a_second = 10;
  TestServer server(handler, limits);
  TestClient client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n");
  for (int count = 0; count < 60; ++count) {
    client.send("x");
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_TRUE(client.read_until("xxx").starts_with("HTTP/1.1 200 "));
}

TEST(ServerLimits, HoldsOnlySoMuchOfTheRequestsOfOneAddress) {
  TestHandler handler;
  Limits limits;
  limits.body_bytes = 200'000;
  limits.peer_read_bytes = 300'000;
  TestServer server(handler, limits);
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n";
  for (int round = 0; round < 3; ++round) {  // what was read, refused or left is no longer held
    TestClient first(server.port()), second(server.port());
    first.send(head + std::string(150'000, 'x'));
    second.send(head + std::string(199'999, 'x'));
    // Of two that do not fit together one is refused; which one depends on what came first.
    pollfd ready[] = {{first.socket(), POLLIN, 0}, {second.socket(), POLLIN, 0}};
    ASSERT_EQ(::poll(ready, 2, 60'000), 1);
    TestClient& refused = ready[0].revents != 0 ? first : second;
    TestClient& other = ready[0].revents != 0 ? second : first;
    EXPECT_TRUE(refused.read_all().starts_with("HTTP/1.1 503 "));
    other.send(std::string(&other == &first ? 50'000 : 1, 'x'));
    EXPECT_TRUE(other.read_until("\r\n").starts_with("HTTP/1.1 200 "));
  }
}

TEST(ServerLimits, ClosesWhatIdlesForTooLong) {
  TestHandler handler;
  Limits limits;
  limits.idle_time = milliseconds(500);  // long enough for a request on a busy machine
  TestServer server(handler, limits);
  TestClient mute(server.port()), blank(server.port()), done(server.port());
  blank.send("\r\n");
  done.send(get_limited);
  EXPECT_TRUE(done.read_until("GET /a ").ends_with("GET /a "));
  EXPECT_TRUE(mute.is_ended());
  EXPECT_TRUE(blank.is_ended());
  EXPECT_TRUE(done.is_ended());
  EXPECT_EQ(server->counts().late, 3);
  EXPECT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
}

TEST(ServerLimits, DropsTheOneThatIdlesLongestForANewOne) {
  TestHandler handler;
  Limits limits;
  limits.connections = 3;
  TestServer server(handler, limits);
  TestClient first(server.port()), second(server.port()), third(server.port());
  ASSERT_TRUE(comes_true([&] { return server->counts().connections == 3; }));
  first.send(get_limited);
  first.read_until("GET /a ");
  TestClient fourth(server.port());
  EXPECT_TRUE(second.is_ended());
  EXPECT_EQ(server->counts().dropped, 1);
  for (TestClient* client : {&first, &third, &fourth}) {
    client->send(get_limited);
    EXPECT_TRUE(client->read_until("GET /a ").ends_with("GET /a "));
  }
  EXPECT_EQ(server->counts().connections, 3);
}

TEST(ServerLimits, DropsNobodyWhoIsBusy) {
  PatientHandler handler;
  Limits limits;
  limits.connections = 2;
  TestServer server(handler, limits);
  TestClient first(server.port()), second(server.port());
  first.send(get_limited);
  ASSERT_TRUE(handler.has_been_asked(1));
  const std::string_view begin = "POST /a HTTP/1.1\r\nHo";
  second.send(begin);
  ASSERT_TRUE(comes_true([&] { return server->counts().bytes_in == std::ssize(get_limited) + std::ssize(begin); }));
  TestClient third(server.port());
  const std::string answer = third.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_EQ(handler.refused.get(), std::vector<std::string>{"503 127.0.0.1  "});
  EXPECT_EQ(server->counts().turned_away, 1);
  EXPECT_EQ(server->counts().dropped, 0);
  second.send("st: a\r\n\r\n");
  ASSERT_TRUE(handler.has_been_asked(2));
  for (const auto& exchange : handler.exchanges.get()) exchange->answer({200, {}, "done"});
  EXPECT_TRUE(first.read_until("done").ends_with("done"));
  EXPECT_TRUE(second.read_until("done").ends_with("done"));
}

TEST(ServerDrain, EndsAtOnceWhereNobodyIsServed) {
  TestHandler handler;
  TestServer server(handler);
  TestClient idle(server.port());
  ASSERT_TRUE(comes_true([&] { return server->counts().connections == 1; }));
  Awaited<bool> done;
  server->drain([&] { done.set(true); });
  EXPECT_TRUE(done.wait_until(true));
  EXPECT_TRUE(idle.is_ended());
  EXPECT_FALSE(TestClient(server.port()).is_connected());
}

TEST(ServerDrain, LetsRunningAnswersEndAndTakesNoMore) {
  PatientHandler handler;
  TestServer server(handler);
  TestClient streaming(server.port()), waiting(server.port()), reading(server.port());
  streaming.send(get_limited);
  ASSERT_TRUE(handler.has_been_asked(1));
  waiting.send(get_limited);
  ASSERT_TRUE(handler.has_been_asked(2));
  const auto exchanges = handler.exchanges.get();
  handler.exchanges.set({});
  exchanges[0]->begin_stream({200, {}, ""}, "");
  streaming.read_until("\r\n\r\n");
  const std::int64_t before = server->counts().bytes_in;
  reading.send("GET /a HT");
  ASSERT_TRUE(comes_true([&] { return server->counts().bytes_in == before + 9; }));
  Awaited<bool> done;
  server->drain([&] { done.set(true); });
  EXPECT_TRUE(reading.read_all().starts_with("HTTP/1.1 503 "));
  reading.close();
  EXPECT_FALSE(TestClient(server.port()).is_connected());
  streaming.send(get_limited);  // for nobody
  exchanges[0]->write("piece");
  exchanges[0]->end_stream();
  EXPECT_EQ(streaming.read_all(), "5\r\npiece\r\n0\r\n\r\n");
  streaming.close();
  EXPECT_FALSE(done.get());
  exchanges[1]->answer({200, {}, "answered"});
  const std::string answer = waiting.read_all();
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("answered"));
  waiting.close();
  EXPECT_TRUE(done.wait_until(true));
  EXPECT_TRUE(handler.exchanges.get().empty());
}

// Whether a server under this limit of descriptors warns so; an empty warning is none at all.
bool warns(rlim_t descriptors, const ServerOptions& options, std::string_view expected) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Root may raise any limit, so this one is somebody else.
    const bool is_somebody_else = ::setresuid(65534, 65534, 65534) == 0 || ::geteuid() != 0;
    const rlimit few{descriptors, descriptors};
    if (!is_somebody_else || ::setrlimit(RLIMIT_NOFILE, &few) != 0) ::_exit(1);
    TestHandler handler;
    const auto server = Server::create(options, handler);
    if (!server.ok()) ::_exit(2);
    const std::string warning(server.value()->warning());
    ::_exit(warning.empty() == expected.empty() && warning.find(expected) != std::string::npos ? 0 : 3);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ServerLimits, SaysLoudlyWhereTheSystemAllowsFarFewerConnectionsOrFewerThanAreNeeded) {
  ServerOptions limited;
  limited.port = 0;
  EXPECT_TRUE(warns(200, limited, "there will be 72 connections at most"));
  limited.limits.connections = 900;
  EXPECT_TRUE(warns(1000, limited, ""));  // 28 less
  limited.needs_all_connections = true;
  EXPECT_TRUE(warns(1000, limited, "there will be 872 connections at most"));
  TestHandler handler;
  ServerOptions options;
  options.port = 0;
  options.limits.connections = 10;
  EXPECT_EQ(Server::create(options, handler).value()->warning(), "");
}

}  // namespace
}  // namespace ingot::http
