#include "kernels/optimizer/update_checks.h"

#include <cmath>

namespace ingot {

Result<void> check_update_tensors(std::string_view operation, std::initializer_list<NamedTensor> tensors) {
  const NamedTensor& first = *tensors.begin();
  TRY(require_rank_between(operation, "C1", first.field, first.view, 1, max_rank));
  for (const NamedTensor& tensor : tensors) {
    TRY(require_shape(operation, "C1", tensor.field, tensor.view, first.view.shape()));
    TRY(require_contiguous_rows(operation, "C1", tensor.field, tensor.view));
  }
  return {};
}

Result<void> require_finite_number(std::string_view operation, std::string_view number, std::string_view field,
                                   double value) {
  if (std::isfinite(value)) return {};
  return violated(operation, number, "expected a finite ", field, ", found one that is not");
}

Result<void> require_finite_not_negative(std::string_view operation, std::string_view number, std::string_view field,
                                         double value) {
  if (std::isfinite(value) && value >= 0) return {};
  return violated(operation, number, "expected a finite ", field, " of 0 or more, found ",
                  std::isfinite(value) ? "a negative one" : "one that is not finite");
}

Result<void> require_decay_rate(std::string_view operation, std::string_view number, std::string_view field,
                                double value) {
  if (value >= 0 && value < 1) return {};
  return violated(operation, number, "expected ", field, " in [0, 1), found ",
                  value < 0    ? "a negative one"
                  : value >= 1 ? "1 or more"
                               : "one that is not a number");
}

Cost update_cost(std::int64_t elements, double operations_per_element, int tensors_read, int tensors_written) {
  const auto count = static_cast<double>(elements);
  return {.operations = operations_per_element * count,
          .bytes_read = 4.0 * tensors_read * count,
          .bytes_written = 4.0 * tensors_written * count};
}

}  // namespace ingot
