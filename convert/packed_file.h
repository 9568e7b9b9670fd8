// Model files whose weights lie as products read them fastest: such a file is mapped and used where it lies, and no
// session packs it again. Readers that do not know the layout miss its weights by name (model/circuit/weights.h).
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ingot {

struct PackedFileReport {
  int tensors = 0;  // of the file
  int moved = 0;    // those whose bytes lie in another order now
};

// Called for each tensor that is moved, before it is; `count` of them will be.
using TensorMoved = std::function<void(std::string_view name, int count)>;

// Both take a GGUF file and fail where there is nothing to move. The file appears whole or not at all.
Result<PackedFileReport> pack_model_file(const std::string& input, const std::string& output,
                                         const TensorMoved& moved = nullptr);
Result<PackedFileReport> unpack_model_file(const std::string& input, const std::string& output,
                                           const TensorMoved& moved = nullptr);

}  // namespace ingot
