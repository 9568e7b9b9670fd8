// Transport: how bytes get through a descriptor: as they are, or encrypted (server/http/tls.h).
#pragma once

#include <sys/uio.h>

#include <cerrno>
#include <span>

namespace ingot::http {

class Transport {
 public:
  virtual ~Transport() = default;
  // Neither waits. Both return how many bytes went through; 0 from receive: the other side sends no more; -1: errno
  // says why, EAGAIN among the reasons, and EPROTO where the two sides do not agree on what they speak.
  virtual ssize_t receive(int descriptor, std::span<char> into) = 0;
  virtual ssize_t send(int descriptor, std::span<iovec> parts) = 0;
  // Nothing more is sent.
  virtual void end_sending(int descriptor) = 0;
  // Whether there is more to receive that came through the descriptor already.
  virtual bool has_received_more() const { return false; }
  // Whether an errno of theirs says to try again when the descriptor is ready.
  static bool is_busy(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }
  // Whether they do not because the other side speaks plainly: then it is answered so.
  virtual bool has_become_plain() const { return false; }
  // Whether receive() has something to send before it can go on.
  virtual bool receives_after_sending() const { return false; }
};

class PlainTransport final : public Transport {
 public:
  ssize_t receive(int descriptor, std::span<char> into) override;
  ssize_t send(int descriptor, std::span<iovec> parts) override;
  void end_sending(int descriptor) override;
};

}  // namespace ingot::http
