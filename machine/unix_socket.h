// Sockets that lie at a path.
#pragma once

#include <sys/types.h>

#include <string>

#include "machine/descriptor.h"

namespace ingot {

// A path that a socket was bound to: it is removed at the end, unless somebody else's lies there by then.
class BoundPath {
 public:
  BoundPath() = default;
  explicit BoundPath(const std::string& path);
  BoundPath(BoundPath&& other) noexcept
      : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}
  BoundPath& operator=(BoundPath&&) = delete;
  ~BoundPath();

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct UnixListener {
  Descriptor socket;  // without waiting
  BoundPath path;
};

// Fails where a server answers there. A socket that nobody listens behind makes way.
Result<UnixListener> listen_at_path(const std::string& path, int backlog);

Result<Descriptor> connect_to_path(const std::string& path);

}  // namespace ingot
