#include "kernels/sampling/logits.h"

#include <limits>

namespace ingot::sampling {

Result<void> require_logits(std::string_view operation, std::string_view number, const ConstAnyView& logits) {
  TRY(require_rank(operation, number, "logits", logits, 2));
  const std::int64_t tokens = logits.shape().last();
  if (tokens < 1 || tokens > std::numeric_limits<std::int32_t>::max()) {
    return violated(operation, number, "expected logits for 1 to 2^31 - 1 tokens, found ", logits.shape());
  }
  return require_contiguous_rows(operation, number, "logits", logits);
}

Result<void> require_per_row(std::string_view operation, std::string_view number, std::string_view field,
                             const ConstAnyView& view, const ConstAnyView& logits) {
  TRY(require_shape(operation, number, field, view, {logits.size(0)}));
  return require_contiguous(operation, number, field, view);
}

}  // namespace ingot::sampling
