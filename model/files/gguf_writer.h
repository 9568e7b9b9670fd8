// Writes GGUF version 3. The file appears whole or not at all (see replaced_file.h).
#pragma once

#include <string>

#include "model/files/metadata.h"
#include "model/files/tensor_to_write.h"

namespace ingot {

// The metadata's general.alignment, where present, is obeyed.
Result<void> write_gguf(const std::string& path, const Metadata& metadata, std::span<const TensorToWrite> tensors);

}  // namespace ingot
