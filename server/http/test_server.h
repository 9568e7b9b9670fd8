// For tests: a server on a free port of loopback whose loop runs on a thread of its own, and a client of raw sockets.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "server/http/server.h"

namespace ingot::http {

constexpr int long_enough_milliseconds = 30'000;  // a bound for what never comes, not a measure

// A value that one thread sets and another waits for.
template <class Value>
class Awaited {
 public:
  void set(Value value) {
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
    changed_.notify_all();
  }
  template <class Condition>
  bool wait_for(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(long_enough_milliseconds),
                             [&] { return condition(value_); });
  }
  bool wait_until(const Value& value) {
    return wait_for([&](const Value& now) { return now == value; });
  }
  Value get() {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  template <class Change>
  void change(Change change_it) {
    const std::scoped_lock lock(mutex_);
    change_it(value_);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Value value_{};
};

inline std::int64_t refused_with(int status, const ServerCounts& counts) {
  const auto place = std::ranges::find(refusal_statuses, status);
  return counts.refused[static_cast<std::size_t>(place - refusal_statuses.begin())];
}

// Answers with what it was asked, unless told otherwise.
class TestHandler : public Handler {
 public:
  std::function<void(std::shared_ptr<Exchange>)> on_request = [](const std::shared_ptr<Exchange>& exchange) {
    const Request& request = exchange->request();
    exchange->answer({200, {{"Content-Type", "text/plain"}}, request.method + " " + request.path + " " + request.body});
  };

  std::function<bool(const Request&)> on_head = [](const Request&) { return true; };
  // "413 127.0.0.1 POST /a", as far as it is known.
  Awaited<std::vector<std::string>> refused;

  void handle(std::shared_ptr<Exchange> exchange) override { on_request(std::move(exchange)); }
  bool wants_body(const Request& head) override { return on_head(head); }
  Answer refuse(const Refusal& refusal, const Request& request) override {
    const std::string line =
        std::to_string(refusal.status) + " " + request.peer + " " + request.method + " " + request.path;
    refused.change([&](auto& all) { all.push_back(line); });
    return {refusal.status, {{"Content-Type", "text/plain"}}, refusal.reason};
  }
};

class TestServer {
 public:
  explicit TestServer(TestHandler& handler, Limits limits = {}) : TestServer(handler, options_of(limits)) {}
  TestServer(TestHandler& handler, const ServerOptions& options)
      : server_(Server::create(options, handler).value()), thread_([this] { server_->run(); }) {}
  ~TestServer() { end(); }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  Server& operator*() { return *server_; }
  Server* operator->() { return server_.get(); }
  int port() const { return server_->port(); }

  void end() {
    if (!server_) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }

 private:
  static ServerOptions options_of(const Limits& limits) {
    ServerOptions options;
    options.port = 0;
    options.limits = limits;
    return options;
  }

  std::unique_ptr<Server> server_;
  std::thread thread_;
};

class TestClient {
 public:
  explicit TestClient(int port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer != 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  explicit TestClient(const std::string& unix_path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, unix_path.data(), unix_path.size());
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~TestClient() { close(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool is_connected() const { return is_connected_; }
  int socket() const { return socket_; }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }
  void half_close() { ::shutdown(socket_, SHUT_WR); }

  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  // What came, at least up to and with `end`; without it where the connection ended before.
  std::string read_until(std::string_view end) {
    while (received_.find(end) == std::string::npos && receive()) {
    }
    const std::size_t at = received_.find(end);
    const std::size_t size = at == std::string::npos ? received_.size() : at + end.size();
    std::string text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }
  // Until the server ends the connection.
  std::string read_all() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }
  // The server sends no more, and nothing came before.
  bool is_ended() { return read_all().empty() && !has_waited_too_long_; }
  bool was_reset() const { return was_reset_; }

 private:
  bool receive() {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, long_enough_milliseconds) != 1) {
      has_waited_too_long_ = true;
      return false;
    }
    char bytes[16 << 10];
    const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
    if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
    was_reset_ = count < 0;
    return count > 0;
  }

  int socket_;
  bool is_connected_ = false;
  bool has_waited_too_long_ = false;
  bool was_reset_ = false;
  std::string received_;
};

// For what no thread reports.
template <class Condition>
bool comes_true(Condition condition) {
  const auto bound = std::chrono::steady_clock::now() + std::chrono::milliseconds(long_enough_milliseconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > bound) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace ingot::http
