// Reading the system's small text files.
#pragma once

#include <optional>
#include <string>

namespace ingot {

// The whole file; empty when it cannot be read, which callers treat as "the system does not say".
std::optional<std::string> read_text_file(const std::string& path);

}  // namespace ingot
