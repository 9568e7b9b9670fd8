#include "machine/system_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ingot {

std::optional<std::string> read_text_file(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  // Files of procfs and sysfs report no size, so read until the end; the bound keeps a foreign file from filling
  // memory.
  constexpr std::size_t most_bytes = std::size_t{8} << 20;
  std::string text;
  char buffer[4096];
  bool complete = false;
  while (text.size() < most_bytes) {
    ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    complete = count == 0;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(file);
  return complete ? std::optional<std::string>(std::move(text)) : std::nullopt;
}

}  // namespace ingot
