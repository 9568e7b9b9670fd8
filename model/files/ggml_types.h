// GGUF's numbers for tensor types. All of them are listed, because a file's layout can only be checked when the size of
// every tensor in it is known; those with a DType can be used.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace ingot {

struct GgmlType {
  std::int32_t number;
  std::string_view name;
  int block_elements;  // 0: removed from the format, no file may hold it
  int block_bytes;
  std::optional<DType> dtype;
};

// Null for a number that GGUF does not define.
const GgmlType* find_ggml_type(std::int32_t number);
// Null for a dtype that GGUF cannot store (u8).
const GgmlType* find_ggml_type(DType dtype);

}  // namespace ingot
