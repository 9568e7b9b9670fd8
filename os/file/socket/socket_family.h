// SocketFamily: one that only some kernels have. A subsystem registers it (Kernel::socket_families), and a program that
// was granted its right may make sockets of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "os/device/fixed_list.h"
#include "os/memory/shared.h"
#include "os/syscall/errno.h"

namespace ingot::os {

class SocketFile;
enum class SocketKind : std::uint8_t;
struct FileServices;

class SocketMaker {
 public:
  // EPROTONOSUPPORT, ESOCKTNOSUPPORT. `flags`: open_flag::non_blocking or nothing.
  virtual Answer<Reference<SocketFile>> make(const FileServices& services, std::uint16_t family, SocketKind kind,
                                             std::uint32_t protocol, std::uint32_t flags) = 0;

 protected:
  ~SocketMaker() = default;
};

struct SocketFamily {
  std::uint16_t number = 0;
  std::string_view right;
  SocketMaker* maker = nullptr;
};

inline constexpr std::size_t most_socket_families = 4;
using SocketFamilies = FixedList<SocketFamily, most_socket_families>;

}  // namespace ingot::os
