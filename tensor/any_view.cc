#include "tensor/any_view.h"

namespace ingot {

Result<void> check_well_formed(const ConstAnyView& view) {
  const OffsetRange range = TRY(offset_range(view.shape(), view.byte_strides()));
  if (range.begin == range.end) return {};
  if (view.data() == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected data for shape ", view.shape(), ", found a null pointer");
  }
  const DTypeInformation& dtype = information(view.dtype());
  if (dtype.block_elements > 1) {
    if (view.rank() == 0 || view.shape().last() % dtype.block_elements != 0 || !view.has_contiguous_rows()) {
      return Error::of(ErrorCode::invalid_argument, "expected packed rows of a multiple of ", dtype.block_elements,
                       " elements for ", dtype.name, ", found shape ", view.shape(), " byte strides ",
                       view.byte_strides());
    }
    return {};
  }
  // Plain elements are aligned to their size; vector loads never assume more.
  if (reinterpret_cast<std::uintptr_t>(view.data()) % static_cast<std::uintptr_t>(dtype.block_bytes) != 0) {
    return Error::of(ErrorCode::invalid_argument, "expected ", dtype.name, " data aligned to ", dtype.block_bytes,
                     " bytes, found an address that is not");
  }
  for (int axis = 0; axis < view.rank(); ++axis) {
    if (view.byte_stride(axis) % dtype.block_bytes != 0) {
      return Error::of(ErrorCode::invalid_argument, "expected byte strides that are multiples of ", dtype.block_bytes,
                       " for ", dtype.name, ", found ", view.byte_strides());
    }
  }
  return {};
}

}  // namespace ingot
