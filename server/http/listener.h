// Sockets that listen, made before anything else is: what is taken is an error while the user still looks.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "server/http/connection.h"

namespace ingot::http {

class Listener {
 public:
  // A numeric address of version 4 or 6. Port 0 is any that is free.
  static Result<Listener> on_address(const std::string& host, int port);
  // The file of a server that died is replaced, that of one that answers is not.
  static Result<Listener> on_unix_path(const std::string& path);

  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  // Closes it, and removes its file where that is still its own.
  ~Listener();

  int port() const { return port_; }
  // Gives the descriptor away, to be closed by whoever takes it.
  int take_descriptor() { return std::exchange(descriptor_, -1); }

 private:
  Listener(int descriptor, int port) : descriptor_(descriptor), port_(port) {}

  int descriptor_;
  int port_;
  std::string path_;  // of a Unix socket
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Who is at the other end of a socket that was accepted; nobody where he has left already.
std::optional<Client> client_of(int descriptor);

}  // namespace ingot::http
