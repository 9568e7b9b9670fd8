// A pair of sockets that are connected to each other and to nobody else: what one sends, the other receives.
#pragma once

#include "os/file/file_description.h"
#include "os/file/volume.h"

namespace ingot::os {

// Streams: bytes in order, without borders between messages.
class SocketFile : public FileDescription {
 public:
  SocketFile* as_socket() override { return this; }
  enum class Direction : std::uint8_t { receiving, sending };
  // No more in that direction, whatever other descriptors there are.
  virtual void shut_down(Direction direction) = 0;

 protected:
  using FileDescription::FileDescription;
  ~SocketFile() = default;
};

struct SocketPair {
  Reference<FileDescription> one, other;
};

// `flags`: open_flag::non_blocking or nothing.
Answer<SocketPair> make_socket_pair(const FileServices& services, std::uint32_t flags);

}  // namespace ingot::os
