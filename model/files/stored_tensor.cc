#include "model/files/stored_tensor.h"

#include <algorithm>
#include <cstring>

#include "model/files/quoted.h"

namespace ingot {

namespace {

Result<DType> supported_dtype(const TensorRecord& record) {
  if (record.dtype) return *record.dtype;
  if (!record.type) {
    return Error::of(ErrorCode::unsupported, "tensor ", Quoted{record.name}, ": expected a supported type, found ",
                     record.type_name);
  }
  return Error::of(ErrorCode::unsupported, "tensor ", Quoted{record.name}, ": expected a supported type, found type ",
                   *record.type, " (", record.type_name, ")");
}

bool is_aligned(const std::byte* data, DType dtype) {
  if (is_block_format(dtype)) return true;  // blocks may lie at any address
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(block_bytes(dtype)) == 0;
}

}  // namespace

Result<std::uint64_t> packed_byte_count(const Shape& shape, int block_elements, int block_bytes) {
  std::int64_t extent = 1;
  bool is_empty = false;
  for (std::int64_t size : shape) {
    if (size < 0) return Error::of(ErrorCode::corrupt, "expected sizes of at least 0, found shape ", shape);
    if (size == 0) {
      is_empty = true;
    } else if (size > most_elements / extent) {
      return Error::of(ErrorCode::overflow, "expected at most ", most_elements, " elements, found shape ", shape);
    } else {
      extent *= size;
    }
  }
  const std::int64_t row = shape.rank() == 0 ? 1 : shape.last();
  if (row % block_elements != 0) {
    return Error::of(ErrorCode::corrupt, "expected rows of a multiple of ", block_elements,
                     " elements (a block), found shape ", shape);
  }
  if (is_empty) return std::uint64_t{0};
  return static_cast<std::uint64_t>(extent / block_elements) * static_cast<std::uint64_t>(block_bytes);
}

Result<StoredTensors> StoredTensors::of(std::span<const TensorRecord> records) {
  StoredTensors tensors;
  tensors.tensors_.reserve(records.size());
  for (const TensorRecord& record : records) {
    const DType dtype = TRY(supported_dtype(record));
    if (record.bytes.size() != record.byte_count) {
      return Error::of(ErrorCode::corrupt, "tensor ", Quoted{record.name}, ": expected ", record.byte_count,
                       " bytes of data, found ", record.bytes.size());
    }
    const std::byte* data = record.bytes.data();
    if (!is_aligned(data, dtype) && record.byte_count > 0) {
      // new[] aligns to 16 bytes, more than any element's size.
      tensors.realigned_.push_back(std::make_unique_for_overwrite<std::byte[]>(record.bytes.size()));
      std::memcpy(tensors.realigned_.back().get(), data, record.bytes.size());
      data = tensors.realigned_.back().get();
    }
    if (!tensors.positions_.emplace(record.name, tensors.tensors_.size()).second) {
      return Error::of(ErrorCode::corrupt, "expected every tensor name once, found ", Quoted{record.name}, " again");
    }
    tensors.tensors_.push_back({record.name, ConstAnyView(data, dtype, record.shape)});
  }
  return tensors;
}

StoredTensors StoredTensors::without(std::span<const std::string_view> prefixes) const {
  StoredTensors others;
  for (const StoredTensor& tensor : tensors_) {
    const auto is_under = [&](std::string_view prefix) { return tensor.name.starts_with(prefix); };
    if (std::any_of(prefixes.begin(), prefixes.end(), is_under)) continue;
    others.positions_.emplace(tensor.name, others.tensors_.size());
    others.tensors_.push_back(tensor);
  }
  return others;
}

const StoredTensor* StoredTensors::find(std::string_view name) const {
  const auto position = positions_.find(name);
  return position == positions_.end() ? nullptr : &tensors_[position->second];
}

}  // namespace ingot
