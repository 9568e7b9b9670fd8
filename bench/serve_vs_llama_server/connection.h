// Connection: a socket of its own for one request and its answer. It never waits: whoever owns it asks epoll when.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/serve_vs_llama_server/answer_reader.h"

namespace ingot::load {

// A numeric address of version 4: http://127.0.0.1:8080
Result<sockaddr_in> address_of(std::string_view url);

std::string get_request(std::string_view path);
std::string post_request(std::string_view path, std::string_view json);

class Connection {
 public:
  // Begins to connect; `epoll` then reports `number` for it.
  static Result<Connection> open(const sockaddr_in& address, int epoll, std::uint64_t number, std::string request);

  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  // Sends and reads what can be without waiting; what came of the answer's body is appended to `body`. `has_room` is
  // whether epoll said that the socket takes bytes.
  Result<void> advance(bool has_room, std::string& body);

  int status() const { return reader_.status(); }
  bool is_complete() const { return reader_.is_complete(); }

 private:
  Connection(int descriptor, int epoll, std::uint64_t number, std::string request)
      : descriptor_(descriptor), epoll_(epoll), number_(number), unsent_(std::move(request)) {}

  Result<void> watch(int operation, std::uint32_t events);
  Result<void> send_some();
  Result<void> read_some(std::string& body);

  int descriptor_;
  int epoll_;
  std::uint64_t number_;
  std::string unsent_;
  std::size_t sent_ = 0;
  AnswerReader reader_;
};

}  // namespace ingot::load
