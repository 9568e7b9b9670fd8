// Lines of bounded width, broken where Python's textwrap breaks them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::chat {

struct WrapOptions {
  std::int64_t width = 79;
  bool breaks_long_words = true;
  bool breaks_on_hyphens = true;
};

std::vector<std::string> wrap_line(std::string_view line, const WrapOptions& options);

}  // namespace ingot::chat
