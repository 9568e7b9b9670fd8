// Reads NumPy .npy files (format versions 1 to 3), checked: a wrong file gives an error, never a wrong array.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace ingot::outside {

struct NpyArray {
  std::string type;  // NumPy's own name without byte order: "f4", "i8", "u1", "b1"
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // row-major, little-endian

  std::int64_t count() const;
};

Result<NpyArray> read_npy(const std::filesystem::path& path);

}  // namespace ingot::outside
