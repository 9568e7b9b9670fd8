// The check that operations on chosen experts share.
#pragma once

#include <limits>

#include "kernels/contract/constraints.h"

namespace ingot {

// indices is [T, k] with k >= 1 and T k < 2^31, and every value lies in [0, experts). Values on a device are the
// caller's to know.
inline Result<void> require_expert_indices(std::string_view operation, std::string_view shape_number,
                                           std::string_view value_number, const View<const std::int32_t>& indices,
                                           std::int64_t experts) {
  TRY(require_rank(operation, shape_number, "indices", indices, 2));
  if (indices.size(1) < 1) {
    return violated(operation, shape_number, "expected 1 expert a token or more, found indices ", indices.shape());
  }
  if (!indices.empty() && indices.count() > std::numeric_limits<std::int32_t>::max()) {
    return violated(operation, shape_number, "expected at most 2^31 - 1 choices, found indices ", indices.shape());
  }
  if (!indices.place().is_host()) return {};
  for (std::int64_t token = 0; token < indices.size(0); ++token) {
    for (std::int64_t j = 0; j < indices.size(1); ++j) {
      if (indices(token, j) >= 0 && indices(token, j) < experts) continue;
      return violated(operation, value_number, "expected experts in [0, ", experts, "), found ", indices(token, j),
                      " for token ", token);
    }
  }
  return {};
}

}  // namespace ingot
