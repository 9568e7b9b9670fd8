#include "server/http/transport.h"

#include <sys/socket.h>

namespace ingot::http {

ssize_t PlainTransport::receive(int descriptor, std::span<char> into) {
  return ::recv(descriptor, into.data(), into.size(), MSG_DONTWAIT);
}

ssize_t PlainTransport::send(int descriptor, std::span<iovec> parts) {
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void PlainTransport::end_sending(int descriptor) { ::shutdown(descriptor, SHUT_WR); }

}  // namespace ingot::http
