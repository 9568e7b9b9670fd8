#include "server/http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ingot::http {
namespace {

constexpr int backlog = 4096;

struct Address {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  template <class Kind>
  Kind& as() {
    length = sizeof(Kind);
    return reinterpret_cast<Kind&>(storage);
  }
};

Error system_error(std::string_view what) {
  return Error::of(ErrorCode::input_output, what, ": ", std::strerror(errno));
}

Result<Address> address_of(const std::string& host, int port) {
  if (port < 0 || port > 65535) {
    return Error::of(ErrorCode::invalid_argument, "expected a port from 0 to 65535, found ", port);
  }
  Address address;
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (in_addr version_4; ::inet_pton(AF_INET, host.c_str(), &version_4) == 1) {
    auto& named = address.as<sockaddr_in>();
    named.sin_family = AF_INET;
    named.sin_addr = version_4;
    named.sin_port = number;
    return address;
  }
  if (in6_addr version_6; ::inet_pton(AF_INET6, host.c_str(), &version_6) == 1) {
    auto& named = address.as<sockaddr_in6>();
    named.sin6_family = AF_INET6;
    named.sin6_addr = version_6;
    named.sin6_port = number;
    return address;
  }
  return Error::of(ErrorCode::invalid_argument,
                   "expected a numeric address to listen on, such as 127.0.0.1 or ::1, found \"",
                   std::string_view(host), "\"");
}

Result<int> port_of(int descriptor) {
  Address bound;
  bound.length = sizeof(bound.storage);
  if (::getsockname(descriptor, bound.get(), &bound.length) != 0) return system_error("could not ask for the port");
  if (bound.storage.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(bound.storage).sin_port);
  return ntohs(reinterpret_cast<sockaddr_in6&>(bound.storage).sin6_port);
}

bool is_loopback(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&address);
}

std::string text_of_address(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text, sizeof(text));
    return text;
  }
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address);  // one client has one name, however it came
  ::inet_ntop(is_mapped ? AF_INET : AF_INET6, is_mapped ? &address.s6_addr[12] : &address.s6_addr[0], text,
              sizeof(text));
  return text;
}

}  // namespace

Result<Listener> Listener::on_address(const std::string& host, int port) {
  Address address = TRY(address_of(host, port));
  Descriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return system_error("could not make a socket for " + host);
  // Without it a server could not be started again for minutes while connections of the last one fade.
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket.get(), address.get(), address.length) != 0 || ::listen(socket.get(), backlog) != 0) {
    if (errno == EADDRINUSE) {
      return Error::of(ErrorCode::input_output, "expected a free port, found ", port, " of ", std::string_view(host),
                       " taken by another server: stop it or choose another port");
    }
    if (errno == EADDRNOTAVAIL) {
      return Error::of(ErrorCode::invalid_argument, "expected an address of this machine, found ",
                       std::string_view(host));
    }
    if (errno == EACCES) {
      return Error::of(ErrorCode::denied, "expected a port that this user may listen on, found ", port,
                       ": choose one from 1024 up");
    }
    return system_error("could not listen on " + host);
  }
  const int bound = TRY(port_of(socket.get()));
  return Listener(std::move(socket), bound, BoundPath());
}

Result<Listener> Listener::on_unix_path(const std::string& path) {
  UnixListener made = TRY(listen_at_path(path, backlog));
  return Listener(std::move(made.socket), 0, std::move(made.path));
}

std::optional<Client> client_of(int descriptor) {
  Address peer, own;
  peer.length = sizeof(peer.storage);
  own.length = sizeof(own.storage);
  if (::getsockname(descriptor, own.get(), &own.length) != 0) return std::nullopt;
  // By our own end, which is never gone: what is reset before it is accepted has no peer any more.
  if (own.storage.ss_family == AF_UNIX) return Client{std::string(unix_peer), true};
  if (::getpeername(descriptor, peer.get(), &peer.length) != 0) return std::nullopt;
  Client client{text_of_address(peer.storage), false};
  if (own.storage.ss_family == AF_INET) {
    client.is_to_loopback = (ntohl(reinterpret_cast<sockaddr_in&>(own.storage).sin_addr.s_addr) >> 24) == 127;
  } else {
    client.is_to_loopback = is_loopback(reinterpret_cast<sockaddr_in6&>(own.storage).sin6_addr);
  }
  return client;
}

}  // namespace ingot::http
