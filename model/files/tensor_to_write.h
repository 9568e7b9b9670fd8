// A tensor on its way into a file: what the header says of it, and where its bytes come from.
#pragma once

#include <functional>
#include <string_view>

#include "model/files/replaced_file.h"
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

// For writers: the tensor's data, which must be byte_count bytes; errors name the tensor.
Result<void> write_tensor_data(ReplacedFile& file, const TensorToWrite& tensor, std::uint64_t byte_count);

}  // namespace ingot
