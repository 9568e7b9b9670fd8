// Writes one safetensors file (safetensors.h says what that is). It appears whole or not at all (see replaced_file.h).
//
// Names stand sorted in the header, so that the same tensors make the same file whatever their order. The data begins
// at a multiple of 8 bytes and lies by falling size of an element, then by name: the format allows no holes, and in
// this order every element lies on its own boundary without any.
#pragma once

#include <string>

#include "model/files/metadata.h"
#include "model/files/tensor_to_write.h"

namespace ingot {

// The format's metadata is text alone: any other kind is refused, and so are names and texts that are not UTF-8.
Result<void> write_safetensors(const std::string& path, const Metadata& metadata,
                               std::span<const TensorToWrite> tensors);

}  // namespace ingot
