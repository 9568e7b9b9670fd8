// model.safetensors.index.json: which file of a sharded model holds which tensor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot {

struct ShardedTensor {
  std::string name;
  std::string file;  // a plain name in the index's own folder
};

// The index's weight_map, in its order. A file that lies outside the folder, or is no .safetensors file, is an error.
Result<std::vector<ShardedTensor>> read_safetensors_index(std::string_view json);

}  // namespace ingot
