// Transport: how bytes get through a descriptor: as they are, or (later) encrypted.
#pragma once

#include <sys/uio.h>

#include <span>

namespace ingot::http {

class Transport {
 public:
  virtual ~Transport() = default;
  // Neither waits. Both return how many bytes went through; 0 from receive: the other side sends no more; -1: errno
  // says why, EAGAIN among the reasons.
  virtual ssize_t receive(int descriptor, std::span<char> into) = 0;
  virtual ssize_t send(int descriptor, std::span<iovec> parts) = 0;
};

class PlainTransport final : public Transport {
 public:
  ssize_t receive(int descriptor, std::span<char> into) override;
  ssize_t send(int descriptor, std::span<iovec> parts) override;
};

}  // namespace ingot::http
