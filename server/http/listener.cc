#include "server/http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

// Closes it unless it is given away.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  int give() { return std::exchange(number_, -1); }

 private:
  int number_;
};

Error system_error(std::string_view what) {
  return Error::of(ErrorCode::input_output, what, ": ", std::strerror(errno));
}

int open_socket(int family) { return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

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

// A socket file that nobody listens behind is left over from a server that died.
Result<void> make_way(const std::string& path, Address& address) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected a free path for a Unix socket, found a file that is none at ", std::string_view(path),
                     ": choose another path");
  }
  const Descriptor probe(open_socket(AF_UNIX));
  if (probe.get() < 0) return system_error("could not make a socket");
  if (::connect(probe.get(), address.get(), address.length) == 0 || errno == EAGAIN) {
    return Error::of(ErrorCode::input_output, "expected a free path for a Unix socket, found a server that answers at ",
                     std::string_view(path), ": stop it or choose another path");
  }
  if (errno != ECONNREFUSED) return system_error("could not ask who listens at " + path);
  if (::unlink(path.c_str()) != 0) return system_error("could not remove the socket of a server that died, " + path);
  return {};
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

Listener::Listener(Listener&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      port_(other.port_),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

Listener::~Listener() {
  if (descriptor_ >= 0) ::close(descriptor_);
  struct stat found = {};
  if (path_.empty() || ::lstat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

Result<Listener> Listener::on_address(const std::string& host, int port) {
  Address address = TRY(address_of(host, port));
  Descriptor socket(open_socket(address.storage.ss_family));
  if (socket.get() < 0) return system_error("could not make a socket for " + host);
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
  return Listener(socket.give(), bound);
}

Result<Listener> Listener::on_unix_path(const std::string& path) {
  Address address;
  auto& named = address.as<sockaddr_un>();
  named.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(named.sun_path)) {
    return Error::of(ErrorCode::invalid_argument, "expected a path of 1 to ", sizeof(named.sun_path) - 1,
                     " bytes for a Unix socket, found ", path.size());
  }
  std::memcpy(named.sun_path, path.data(), path.size());
  if (Result<void> way = make_way(path, address); !way.ok()) return way.error();
  Descriptor socket(open_socket(AF_UNIX));
  if (socket.get() < 0) return system_error("could not make a Unix socket");
  if (::bind(socket.get(), address.get(), address.length) != 0 || ::listen(socket.get(), backlog) != 0) {
    return system_error("could not listen on the Unix socket " + path);
  }
  Listener listener(socket.give(), 0);
  struct stat made = {};
  if (::lstat(path.c_str(), &made) == 0) {
    listener.path_ = path;
    listener.device_ = made.st_dev;
    listener.inode_ = made.st_ino;
  }
  return listener;
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
