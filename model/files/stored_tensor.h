// Tensors of a model file. A reader lists records: everything its format can say, checked. StoredTensors are the
// records as views that kernels can use; a type this project has no DType for, or data that is not there, fails only
// then.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/any_view.h"

namespace ingot {

struct TensorRecord {
  std::string_view name;
  std::string_view type_name;        // as the format calls it
  std::optional<std::int32_t> type;  // the format's number for it, where it numbers types
  std::optional<DType> dtype;        // none: known to the format, not to this project
  Shape shape;                       // outermost first
  std::uint64_t byte_count = 0;      // what shape and type demand
  std::span<const std::byte> bytes;  // byte_count of them, or none where the file is a directory without data
};

struct StoredTensor {
  std::string_view name;
  ConstAnyView view;
};

class StoredTensors {
 public:
  StoredTensors() = default;
  // What the records view must outlive the result. Data that does not lie on its elements' boundary (both formats allow
  // it, and unaligned loads of typed elements are undefined) is copied to where it does.
  static Result<StoredTensors> of(std::span<const TensorRecord> records);

  // Those whose names start with none of the prefixes. This must outlive them.
  StoredTensors without(std::span<const std::string_view> prefixes) const;

  std::span<const StoredTensor> all() const { return tensors_; }
  const StoredTensor* find(std::string_view name) const;

 private:
  std::vector<StoredTensor> tensors_;
  std::map<std::string_view, std::size_t> positions_;
  std::vector<std::unique_ptr<std::byte[]>> realigned_;
};

// Bytes of a packed tensor, checked: sizes not negative, rows of whole blocks, and a product that stays below
// most_elements even where zero sizes are left out, so that strides cannot overflow either.
Result<std::uint64_t> packed_byte_count(const Shape& shape, int block_elements, int block_bytes);

}  // namespace ingot
