// SocketFamily: one that only some kernels have. A subsystem registers it (Kernel::socket_families), and a program that
// was granted its right may make sockets of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "os/device/fixed_list.h"
#include "os/memory/shared.h"
#include "os/syscall/errno.h"

namespace ingot::os {

class FileTree;
class MemoryDirectory;
class SocketFile;
enum class SocketKind : std::uint8_t;
struct FileServices;
class ProgramAccount;

class SocketMaker {
 public:
  // EPROTONOSUPPORT, ESOCKTNOSUPPORT. `flags`: open_flag::non_blocking or nothing.
  virtual Answer<Reference<SocketFile>> make(const FileServices& services, std::uint16_t family, SocketKind kind,
                                             std::uint32_t protocol, std::uint32_t flags) = 0;
  // What sockets hold of the kernel's memory is charged there from now on. nullptr: to nobody any more.
  virtual void charge_to(ProgramAccount* account) = 0;
  // At the machine's end: it gives everything back, and says in the log if something is left, of it or of a program.
  virtual void stop() = 0;

 protected:
  ~SocketMaker() = default;
};

// What else there is for a program that was granted it: files in its tree, some of them in /proc.
class FamilyFiles {
 public:
  virtual Answer<void> add_to(FileTree& tree, MemoryDirectory& proc) = 0;

 protected:
  ~FamilyFiles() = default;
};

struct SocketFamily {
  std::uint16_t number = 0;
  std::string_view right;
  SocketMaker* maker = nullptr;
  FamilyFiles* files = nullptr;  // none, or another family's of the same right
};

inline constexpr std::size_t most_socket_families = 4;
using SocketFamilies = FixedList<SocketFamily, most_socket_families>;

}  // namespace ingot::os
