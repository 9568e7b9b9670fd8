#include "model/files/tensor_to_write.h"

#include "model/files/quoted.h"

namespace ingot {

TensorToWrite tensor_to_write(std::string_view name, DType dtype, const Shape& shape,
                              std::span<const std::byte> bytes) {
  return {name, dtype, shape, [bytes](const ByteSink& sink) { return sink(bytes); }};
}

TensorToWrite tensor_to_write(const StoredTensor& tensor) {
  const ConstAnyView& view = tensor.view;
  const std::int64_t size = view.count() / block_elements(view.dtype()) * block_bytes(view.dtype());
  return tensor_to_write(tensor.name, view.dtype(), view.shape(),
                         std::span(view.data(), static_cast<std::size_t>(size)));
}

Result<void> write_tensor_data(ReplacedFile& file, const TensorToWrite& tensor, std::uint64_t byte_count) {
  std::uint64_t written = 0;
  const Result<void> produced = tensor.produce([&](std::span<const std::byte> bytes) -> Result<void> {
    written += bytes.size();
    return file.write(bytes);
  });
  if (!produced.ok()) return produced.error().within("tensor ", Quoted{tensor.name});
  if (written != byte_count) {
    return Error::of(ErrorCode::invalid_argument, "tensor ", Quoted{tensor.name}, ": expected ", byte_count,
                     " bytes of data, found ", written);
  }
  return {};
}

}  // namespace ingot
