#include "machine/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace ingot {
namespace {

Error failed(const std::string& what) {
  return Error::of(ErrorCode::input_output, std::string_view(what), ": ", std::strerror(errno));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return Error::of(ErrorCode::invalid_argument, "expected a path of 1 to ", sizeof(address.sun_path) - 1,
                     " bytes for a Unix socket, found ", path.size());
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int connect_to(const Descriptor& socket, const sockaddr_un& address) {
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// A socket file that nobody listens behind is left over from a server that died.
Result<void> make_way(const std::string& path, const sockaddr_un& address) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected a free path for a Unix socket, found a file that is none at ", std::string_view(path),
                     ": choose another path");
  }
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!probe.is_open()) return failed("could not make a socket");
  if (connect_to(probe, address) == 0 || errno == EAGAIN) {
    return Error::of(ErrorCode::input_output, "expected a free path for a Unix socket, found a server that answers at ",
                     std::string_view(path), ": stop it or choose another path");
  }
  if (errno != ECONNREFUSED) return failed("could not ask who listens at " + path);
  if (::unlink(path.c_str()) != 0) return failed("could not remove the socket of a server that died, " + path);
  return {};
}

}  // namespace

BoundPath::BoundPath(const std::string& path) {
  struct stat made = {};
  if (::lstat(path.c_str(), &made) != 0) return;
  path_ = path;
  device_ = made.st_dev;
  inode_ = made.st_ino;
}

BoundPath::~BoundPath() {
  struct stat found = {};
  if (path_.empty() || ::lstat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

Result<UnixListener> listen_at_path(const std::string& path, int backlog) {
  const sockaddr_un address = TRY(address_of(path));
  TRY(make_way(path, address));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failed("could not make a Unix socket");
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), backlog) != 0) {
    return failed("could not listen on the Unix socket " + path);
  }
  return UnixListener{std::move(socket), BoundPath(path)};
}

Result<Descriptor> connect_to_path(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failed("could not make a Unix socket");
  if (connect_to(socket, address) != 0) return failed("expected somebody who listens at " + path);
  return socket;
}

}  // namespace ingot
