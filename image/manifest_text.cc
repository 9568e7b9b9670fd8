#include "image/manifest_text.h"

#include <cstdio>

#include "image/bytes.h"

namespace ingot::image {

std::string escaped(std::string_view value) {
  std::string text;
  for (const char character : value) {
    if (character == '\n') {
      text += "\\n";
    } else if (character == '\\') {
      text += "\\\\";
    } else {
      text += character;
    }
  }
  return text;
}

Result<std::string> manifest_text(const CastRequest& request, const std::vector<std::string>& large,
                                  std::uint64_t machine_memory) {
  std::string text = "ingot manifest 1\n";
  const auto line = [&](std::string_view key, std::string_view value) {
    text.append(key).append(" ").append(escaped(value)).append("\n");
  };
  const auto lines = [&](std::string_view key, const std::vector<std::string>& values) {
    for (const std::string& value : values) line(key, value);
  };
  line("program", TRY(normal_path(request.program)));
  lines("argument", request.arguments);
  lines("default-argument", request.default_arguments);
  lines("environment", request.environment);
  if (request.directory != "/") line("directory", TRY(normal_path(request.directory)));
  if (request.memory_limit) line("memory", std::to_string(*request.memory_limit));
  if (request.tmpfs) line("tmpfs", std::to_string(*request.tmpfs));
  if (request.descriptors) line("descriptors", std::to_string(*request.descriptors));
  for (std::size_t index = 0; index < large.size(); ++index) {
    const FileNode& node = *request.root.at(large[index]);
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", node.mode & 07777);
    line("file", std::to_string(index) + ' ' + std::to_string(node.content.size()) + ' ' + mode + ' ' + large[index]);
  }
  for (const std::string& path : request.consumed) line("consume", TRY(normal_path(path)));
  lines("grant", request.rights);
  lines("network", request.network);
  if (request.traces_system_calls) line("trace", "syscalls");
  line("machine-memory", std::to_string(machine_memory));
  if (request.machine_cpus) line("machine-cpus", std::to_string(*request.machine_cpus));
  return text;
}

}  // namespace ingot::image
