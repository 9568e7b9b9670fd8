// Constraints that several operations of this family share.
#pragma once

#include "kernels/contract/constraints.h"
#include "kernels/contract/cost.h"
#include "kernels/contract/tolerance.h"
#include "tensor/subview.h"

namespace ingot {

inline constexpr Tolerance moves_only = Tolerance::exact("elements are moved, not computed");

// The bytes that a tensor's elements take, gaps between rows not counted.
inline double bytes_of(const ConstAnyView& view) {
  return static_cast<double>(view.count()) / block_elements(view.dtype()) * block_bytes(view.dtype());
}

// Not a block format: every element has an address.
inline Result<void> require_plain(std::string_view operation, std::string_view number, std::string_view field,
                                  const ConstAnyView& view) {
  if (!is_block_format(view.dtype())) return {};
  return violated(operation, number, "expected ", field, " of a plain type, found ", view.dtype());
}

inline Result<void> require_axis(std::string_view operation, std::string_view number, std::string_view field,
                                 std::int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return {};
  return violated(operation, number, "expected ", field, " in [0, ", rank, "), found ", axis);
}

// C2: each of the indices, contiguous, names one of so many rows. Those on a device are not read here: who puts them
// there vouches for them.
inline Result<void> require_indices_of_rows(std::string_view operation, const View<const std::int32_t>& indices,
                                            std::int64_t rows) {
  if (!indices.place().is_host()) return {};
  const std::int64_t count = has_elements(indices.shape()) ? indices.count() : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = indices.data()[i];
    if (index < 0 || index >= rows) {
      return violated(operation, "C2", "expected indices in [0, ", rows, "), found ", index, " at ", i);
    }
  }
  return {};
}

// C1 to C4 that gathering and scattering share: `table` is [V, D]; `indices` is contiguous and each names a row of it;
// `rows` has indices' shape and D behind it; last axes are packed.
inline Result<void> require_indexed_rows(std::string_view operation, std::string_view table_name,
                                         const ConstAnyView& table, const View<const std::int32_t>& indices,
                                         std::string_view rows_name, const ConstAnyView& rows) {
  TRY(require_rank(operation, "C1", table_name, table, 2));
  TRY(require_rank_between(operation, "C2", "indices", indices, 0, max_rank - 1));
  TRY(require_contiguous(operation, "C2", "indices", indices));
  TRY(require_indices_of_rows(operation, indices, table.size(0)));
  Shape shape = indices.shape();
  shape.push_back(table.size(1));
  TRY(require_shape(operation, "C3", rows_name, rows, shape));
  TRY(require_contiguous_rows(operation, "C4", table_name, table));
  return require_contiguous_rows(operation, "C4", rows_name, rows);
}

}  // namespace ingot
