// What the calls about sockets share: the socket itself, and addresses as programs hand them over.
#pragma once

#include <algorithm>

#include "os/syscall/file_arguments.h"

namespace ingot::os {

struct SocketArgument {
  Reference<FileDescription> file;
  SocketFile* operator->() const { return file->as_socket(); }
  SocketFile& operator*() const { return *file->as_socket(); }
};

inline Answer<SocketArgument> socket_of(Caller& caller, std::int32_t descriptor) {
  SocketArgument socket{TRY(file_of(caller, descriptor))};
  if (socket.file->as_socket() == nullptr) return Errno::enotsock;
  return socket;
}

// EINVAL for more than any address has.
Answer<void> read_address(SocketAddress& to, VirtualAddress from, std::int32_t bytes);
// As much of it as there is room for, and its whole length.
Answer<void> write_address(const SocketAddress& address, VirtualAddress to, UserPointer<std::int32_t> room);

}  // namespace ingot::os
