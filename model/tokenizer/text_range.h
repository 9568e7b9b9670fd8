// A stretch of a text, in bytes.
#pragma once

#include <cstddef>

namespace ingot {

struct TextRange {
  std::size_t begin, end;
  bool operator==(const TextRange&) const = default;
};

}  // namespace ingot
