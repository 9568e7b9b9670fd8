#include "bench/serve_vs_llama_server/connection.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace ingot::load {
namespace {

Error system_error(std::string_view what) {
  return Error::of(ErrorCode::input_output, what, ": ", static_cast<const char*>(std::strerror(errno)));
}

}  // namespace

Result<sockaddr_in> address_of(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const auto wrong = [&] {
    return Error::of(ErrorCode::invalid_argument, "--url: expected http://ADDRESS:PORT in numbers, found '",
                     url.substr(0, 80), "'");
  };
  std::string_view rest = url;
  if (!rest.starts_with(scheme)) return wrong();
  rest.remove_prefix(scheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos) return wrong();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, std::string(rest.substr(0, colon)).c_str(), &address.sin_addr) != 1) return wrong();
  const std::string_view digits = rest.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (code != std::errc() || end != digits.data() + digits.size() || port == 0) return wrong();
  address.sin_port = htons(port);
  return address;
}

std::string get_request(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
}

std::string post_request(std::string_view path, std::string_view json) {
  std::string request = "POST " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n";
  request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(json.size()) + "\r\n\r\n";
  return request.append(json);
}

Result<Connection> Connection::open(const sockaddr_in& address, int epoll, std::uint64_t number, std::string request) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return system_error("socket");
  Connection connection(descriptor, epoll, number, std::move(request));
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS) {
    return system_error("connect");
  }
  TRY(connection.watch(EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT));
  return connection;
}

Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      epoll_(other.epoll_),
      number_(other.number_),
      unsent_(std::move(other.unsent_)),
      sent_(other.sent_),
      reader_(std::move(other.reader_)) {}

// Closing takes it out of epoll, too.
Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<void> Connection::watch(int operation, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = number_;
  if (epoll_ctl(epoll_, operation, descriptor_, &event) != 0) return system_error("epoll_ctl");
  return {};
}

Result<void> Connection::advance(bool has_room, std::string& body) {
  if (has_room && sent_ < unsent_.size()) TRY(send_some());
  return read_some(body);
}

Result<void> Connection::send_some() {
  while (sent_ < unsent_.size()) {
    const ssize_t count = send(descriptor_, unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    // A server may answer and close before it has read all: then its answer says why.
    if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) break;
    if (count < 0) return system_error("send");
    sent_ += static_cast<std::size_t>(count);
  }
  sent_ = unsent_.size();
  return watch(EPOLL_CTL_MOD, EPOLLIN);
}

Result<void> Connection::read_some(std::string& body) {
  char bytes[16 << 10];
  for (;;) {
    const ssize_t count = recv(descriptor_, bytes, sizeof bytes, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (count < 0) return system_error("recv");
    if (count == 0) return reader_.take_end();
    TRY(reader_.take({bytes, static_cast<std::size_t>(count)}, body));
    if (reader_.is_complete() || count < static_cast<ssize_t>(sizeof bytes)) return {};
  }
}

}  // namespace ingot::load
