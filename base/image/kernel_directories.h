// Folders that the kernel adds to the root of every image. `ingot cast` knows them, so that a program may start in one.
#pragma once

#include <string_view>

namespace ingot::kernel_directory {

inline constexpr std::string_view devices = "/dev", processes = "/proc", machine = "/sys", settings = "/etc";

// Where a program may write, if its manifest lets it.
inline constexpr std::string_view shared_memory = "/dev/shm";
inline constexpr std::string_view writable[] = {"/tmp", "/run", "/var/tmp"};

}  // namespace ingot::kernel_directory
