// Writes GGUF version 3. The file appears whole or not at all (see replaced_file.h).
#pragma once

#include <functional>
#include <string>

#include "model/files/metadata.h"
#include "model/files/stored_tensor.h"

namespace ingot {

// Takes a tensor's bytes piece by piece, in order.
using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

struct TensorToWrite {
  std::string_view name;
  DType dtype = DType::f32;
  Shape shape;  // outermost first
  // Hands over all bytes of the packed tensor; a wrong number of them fails the writing.
  std::function<Result<void>(const ByteSink&)> produce;
};

// The data must outlive the writing.
TensorToWrite tensor_to_write(std::string_view name, DType dtype, const Shape& shape, std::span<const std::byte> bytes);
// Precondition: a contiguous view.
TensorToWrite tensor_to_write(const StoredTensor& tensor);

// The metadata's general.alignment, where present, is obeyed.
Result<void> write_gguf(const std::string& path, const Metadata& metadata, std::span<const TensorToWrite> tensors);

}  // namespace ingot
