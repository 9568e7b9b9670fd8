// What a safetensors header says, before any of it is compared with the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/metadata.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace ingot {

inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;
inline constexpr std::string_view safetensors_metadata_name = "__metadata__";

struct SafetensorsType {
  std::string_view name;
  int bits;  // of one element; some types are smaller than a byte
  std::optional<DType> dtype;
};

// Null for a name or a dtype that the format cannot store.
const SafetensorsType* find_safetensors_type(std::string_view name);
const SafetensorsType* find_safetensors_type(DType dtype);

struct SafetensorsEntry {
  std::string name;
  const SafetensorsType* type = nullptr;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<SafetensorsEntry> entries;  // as listed
};

Result<SafetensorsHeader> read_safetensors_header(std::string_view json);

}  // namespace ingot
