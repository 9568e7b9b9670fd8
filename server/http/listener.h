// Sockets that listen, made before anything else is: what is taken is an error while the user still looks.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "machine/unix_socket.h"
#include "server/http/connection.h"

namespace ingot::http {

class Listener {
 public:
  // A numeric address of version 4 or 6. Port 0 is any that is free.
  static Result<Listener> on_address(const std::string& host, int port);
  // The file of a server that died is replaced, that of one that answers is not.
  static Result<Listener> on_unix_path(const std::string& path);

  int port() const { return port_; }
  // Gives the descriptor away, to be closed by whoever takes it.
  int take_descriptor() { return descriptor_.give(); }

 private:
  Listener(Descriptor descriptor, int port, BoundPath path)
      : descriptor_(std::move(descriptor)), port_(port), path_(std::move(path)) {}

  Descriptor descriptor_;
  int port_;
  BoundPath path_;  // of a Unix socket: its file is removed at the end
};

// Who is at the other end of a socket that was accepted; nobody where he has left already.
std::optional<Client> client_of(int descriptor);

}  // namespace ingot::http
