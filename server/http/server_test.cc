#include "server/http/server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "server/http/listener.h"
#include "server/http/test_server.h"

namespace ingot::http {
namespace {

constexpr std::string_view get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class PathForTest {
 public:
  PathForTest() : path_("/tmp/ingot_http_test_" + std::to_string(::getpid())) { std::filesystem::remove(path_); }
  ~PathForTest() { std::filesystem::remove(path_); }
  PathForTest(const PathForTest&) = delete;
  PathForTest& operator=(const PathForTest&) = delete;
  const std::string& text() const { return path_; }

 private:
  std::string path_;
};

TEST(Server, AnswersRequestsOfOneConnectionAfterAnother) {
  TestHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  for (int round = 0; round < 3; ++round) {
    client.send("POST /a?b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    const std::string answer = client.read_until("POST /a hello");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << answer;
    EXPECT_TRUE(has(answer, "\r\nContent-Length: 13\r\n")) << answer;
    EXPECT_FALSE(has(answer, "Connection:")) << answer;
  }
  EXPECT_EQ(server->counts().accepted, 1);
  EXPECT_EQ(server->counts().connections, 1);
  EXPECT_GT(server->counts().bytes_in, 0);
  EXPECT_GT(server->counts().bytes_out, 0);
}

TEST(Server, AnswersPipelinedRequestsInTheirOrderAndHandsOutOneAtATime) {
  TestHandler handler;
  std::atomic<int> under_way = 0, most = 0;
  std::vector<std::thread> answerers;
  handler.on_request = [&](std::shared_ptr<Exchange> exchange) {
    most = std::max<int>(most, ++under_way);
    answerers.emplace_back([&under_way, exchange = std::move(exchange)] {
      --under_way;
      exchange->answer({200, {}, "<" + exchange->request().path + ">"});
    });
  };
  TestServer server(handler);
  TestClient client(server.port());
  std::string requests;
  for (int number = 0; number < 40; ++number) {
    requests += "GET /" + std::to_string(number) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  client.send(requests);
  for (int number = 0; number < 40; ++number) {
    const std::string part = "</" + std::to_string(number) + ">";
    EXPECT_TRUE(client.read_until(part).ends_with(part)) << number;
  }
  EXPECT_EQ(most, 1);
  server.end();
  for (std::thread& thread : answerers) thread.join();
}

TEST(Server, AnswersThousandsOfPipelinedRequestsWithoutThousandsOfFrames) {
  TestHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  std::string requests;
  for (int number = 0; number < 3000; ++number) requests += get;
  std::thread sender([&] { client.send(requests + "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); });
  const std::string answers = client.read_all();
  sender.join();
  EXPECT_TRUE(answers.ends_with("GET /last ")) << answers.size();
}

TEST(Server, ClosesAfterAnAnswerWhereTheClientWantsThat) {
  TestHandler handler;
  TestServer server(handler);
  TestClient modern(server.port());
  modern.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(has(modern.read_all(), "\r\nConnection: close\r\n"));
  TestClient old(server.port());
  old.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.read_all().ends_with("GET /a "));
  TestClient old_but_staying(server.port());
  old_but_staying.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(has(old_but_staying.read_until("GET /a "), "\r\nConnection: keep-alive\r\n"));
  old_but_staying.send("GET /b HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old_but_staying.read_all().ends_with("GET /b "));
}

TEST(Server, DropsTheBodyOfAnAnswerToHead) {
  TestHandler handler;
  TestServer server(handler);
  TestClient client(server.port());
  client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = client.read_all();
  EXPECT_TRUE(has(answers, "Content-Length: 8\r\n\r\nHTTP/1.1 200 OK")) << answers;
}

TEST(Server, SaysContinueAndRefusesWhatIsTooLargeBeforeItIsSent) {
  TestHandler handler;
  Limits limits;
  limits.body_bytes = 10;
  TestServer server(handler, limits);
  TestClient client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  EXPECT_TRUE(client.read_until("POST /a hello").ends_with("POST /a hello"));
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(refused_with(413, server->counts()), 1);
  EXPECT_EQ(refused_with(400, server->counts()), 0);
}

TEST(Server, LetsAClientReadWhyItsLargeBodyWasRefused) {
  TestHandler handler;
  Limits limits;
  limits.body_bytes = 10;
  TestServer server(handler, limits);
  TestClient client(server.port());
  const std::string_view head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n";
  client.send(head);
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 ") && answer.ends_with("400000")) << answer;
  // It is in the middle of sending. A server that had closed would answer that with a reset, which may overtake the
  // 413.
  client.send(std::string(1000, 'x'));
  EXPECT_TRUE(comes_true([&] { return server->counts().bytes_in == std::ssize(head) + 1000; }));
  client.close();
  EXPECT_TRUE(comes_true([&] { return server->counts().connections == 0; }));
}

TEST(Server, RefusesWhatIsMalformedAndCloses) {
  TestHandler handler;
  TestServer server(handler);
  for (const std::string_view text :
       {"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n", "\x16\x03\x01\x02"}) {
    TestClient client(server.port());
    client.send(text);
    const std::string answer = client.read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << text << "\n" << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
  }
  TestClient second(server.port());
  second.send(std::string(get) + "nonsense\r\n\r\n");
  const std::string answers = second.read_all();
  EXPECT_TRUE(has(answers, "GET /a HTTP/1.1 400 ")) << answers;
  EXPECT_EQ(refused_with(400, server->counts()), 4);
}

TEST(Server, AnswersForAnExchangeThatIsLetGoOf) {
  TestHandler handler;
  handler.on_request = [](const std::shared_ptr<Exchange>&) {};
  TestServer server(handler);
  TestClient client(server.port());
  client.send(get);
  EXPECT_TRUE(client.read_until("without an answer").starts_with("HTTP/1.1 500 "));
  client.send(get);
  EXPECT_TRUE(client.read_until("without an answer").starts_with("HTTP/1.1 500 "));
}

TEST(Server, CountsRequestsThatAreUnderWay) {
  TestHandler handler;
  Awaited<std::shared_ptr<Exchange>> held;
  handler.on_request = [&](std::shared_ptr<Exchange> exchange) { held.set(std::move(exchange)); };
  TestServer server(handler);
  TestClient idle(server.port());
  TestClient client(server.port());
  EXPECT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(held.wait_for([](const auto& exchange) { return exchange != nullptr; }));
  EXPECT_EQ(server->counts().answering, 1);
  held.get()->answer({200, {}, "done"});
  EXPECT_TRUE(client.read_until("done").ends_with("done"));
  EXPECT_TRUE(comes_true([&] { return server->counts().answering == 0; }));
  held.set(nullptr);
}

TEST(Server, TakesOneAnswerOnly) {
  TestHandler handler;
  handler.on_request = [](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({200, {}, "first"});
    exchange->answer({200, {}, "second"});
    exchange->begin_stream({200, {}, ""}, "");
    exchange->write("third");
  };
  TestServer server(handler);
  TestClient client(server.port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\nfirst"));
}

TEST(Server, SaysWhereARequestCameFrom) {
  TestHandler handler;
  handler.on_request = [](const std::shared_ptr<Exchange>& exchange) {
    const Request& request = exchange->request();
    exchange->answer({200, {}, request.peer + (request.is_to_loopback ? " loopback" : " elsewhere")});
  };
  const PathForTest path;
  ServerOptions options;
  options.port = 0;
  options.unix_path = path.text();
  TestServer server(handler, options);
  TestClient by_address(server.port()), by_path(path.text());
  by_address.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(by_address.read_all().ends_with("\r\n\r\n127.0.0.1 loopback"));
  by_path.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(by_path.read_all().ends_with("\r\n\r\nunix loopback"));
}

TEST(Server, ListensOnBothVersionsOfAddresses) {
  TestHandler handler;
  handler.on_request = [](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({200, {}, exchange->request().peer});
  };
  ServerOptions options;
  options.port = 0;
  options.host = "::";
  if (const int socket = ::socket(AF_INET6, SOCK_STREAM, 0); socket >= 0) {
    ::close(socket);
  } else {  // a machine without addresses of version 6
    const auto refused = Server::create(options, handler);
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(has(std::string(refused.error().text()), "could not make a socket for ::")) << refused.error().text();
    return;
  }
  TestServer server(handler, options);
  TestClient client(server.port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\n127.0.0.1"));
}

TEST(Server, SaysWhyItCannotListen) {
  TestHandler handler;
  TestServer first(handler);
  const auto error_of = [&](const std::string& host, int port, const std::string& path) {
    ServerOptions options;
    options.host = host;
    options.port = port;
    options.unix_path = path;
    const auto server = Server::create(options, handler);
    return server.ok() ? std::string("none") : std::string(server.error().text());
  };
  EXPECT_TRUE(
      has(error_of("127.0.0.1", first.port(), ""), "expected a free port, found " + std::to_string(first.port())));
  EXPECT_TRUE(has(error_of("localhost", 0, ""), "expected a numeric address"));
  EXPECT_TRUE(has(error_of("192.0.2.1", 0, ""), "expected an address of this machine"));
  EXPECT_TRUE(has(error_of("127.0.0.1", 65536, ""), "expected a port from 0 to 65535, found 65536"));
  EXPECT_TRUE(has(error_of("", 0, ""), "found neither"));
  EXPECT_TRUE(has(error_of("", 0, "/tmp/" + std::string(200, 'a')), "expected a path of 1 to 107 bytes"));
  EXPECT_TRUE(has(error_of("", 0, "/nonexistent/socket"), "No such file"));
}

TEST(Server, ReplacesTheUnixSocketOfADeadServerOnly) {
  TestHandler handler;
  const PathForTest path;
  ServerOptions options;
  options.host = "";
  options.unix_path = path.text();
  {
    TestServer server(handler, options);
    const auto second = Server::create(options, handler);
    ASSERT_FALSE(second.ok());
    EXPECT_TRUE(has(std::string(second.error().text()), "found a server that answers")) << second.error().text();
    EXPECT_EQ(server.port(), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path.text()));
  {
    // As a server that died leaves it: bound, and nobody behind it.
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.text().data(), path.text().size());
    ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ::close(socket);
    TestServer server(handler, options);
    TestClient client(path.text());
    client.send("GET / HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(client.read_all().ends_with("GET / "));
    // A file that took its place is not its own.
    std::filesystem::remove(path.text());
    std::ofstream(path.text()) << "precious";
  }
  EXPECT_TRUE(std::filesystem::exists(path.text()));
  const auto third = Server::create(options, handler);
  ASSERT_FALSE(third.ok());
  EXPECT_TRUE(has(std::string(third.error().text()), "found a file that is none")) << third.error().text();
}

TEST(Server, RunsTasksOnItsThreadSoonOrLater) {
  TestHandler handler;
  TestServer server(handler);
  Awaited<std::vector<std::thread::id>> where;
  const auto note = [&] { where.change([](auto& ids) { ids.push_back(std::this_thread::get_id()); }); };
  server->post_after(std::chrono::milliseconds(1), note);
  server->post(note);
  EXPECT_TRUE(where.wait_for([](const auto& ids) { return ids.size() == 2; }));
  EXPECT_EQ(where.get()[0], where.get()[1]);
  EXPECT_NE(where.get()[0], std::this_thread::get_id());
}

TEST(Server, MayEndBeforeItsExchanges) {
  TestHandler handler;
  Awaited<std::vector<std::shared_ptr<Exchange>>> kept;
  bool is_told = false;
  handler.on_request = [&](std::shared_ptr<Exchange> exchange) {
    exchange->on_pace([&](Pace) { is_told = true; });
    kept.change([&](auto& all) { all.push_back(std::move(exchange)); });
  };
  TestServer server(handler);
  TestClient first(server.port()), second(server.port()), third(server.port());
  for (TestClient* client : {&first, &second, &third}) client->send(get);
  ASSERT_TRUE(kept.wait_for([](const auto& all) { return all.size() == 3; }));
  const auto exchanges = kept.get();
  exchanges[1]->begin_stream({200, {}, ""}, "");
  server.end();
  exchanges[0]->answer({200, {}, "too late"});
  exchanges[1]->write("too late");
  exchanges[1]->end_stream();
  exchanges[2]->on_pace([&](Pace) { is_told = true; });
  kept.set({});
  EXPECT_FALSE(is_told);
  EXPECT_FALSE(has(third.read_all(), "too late"));
}

}  // namespace
}  // namespace ingot::http
