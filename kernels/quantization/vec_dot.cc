#include "kernels/quantization/vec_dot.h"

#include <algorithm>
#include <cmath>

#include "kernels/contract/describe.h"
#include "kernels/quantization/block_format_checks.h"
#include "kernels/quantization/vec_dot_cases.h"
#include "kernels/quantization/vec_dot_terms.h"

namespace ingot {

Result<void> VecDot::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "weights", a.weights, 2));
  TRY(require_block_format(name, "C1", "weights", a.weights));
  TRY(require_contiguous_rows(name, "C1", "weights", a.weights));
  const DType dtype = a.weights.dtype();
  const std::int64_t length = a.weights.size(1);
  TRY(require_shape(name, "C2", "codes", a.codes, {length}));
  TRY(require_contiguous(name, "C2", "codes", a.codes));
  TRY(require_shape(name, "C3", "scales", a.scales, {length / block_elements(dtype)}));
  TRY(require_contiguous(name, "C3", "scales", a.scales));
  if (is_present(a.sums)) {
    TRY(require_shape(name, "C4", "sums", a.sums, {length / code_group}));
    TRY(require_contiguous(name, "C4", "sums", a.sums));
  } else if (has_minimums(dtype)) {
    return violated(name, "C4", "expected sums, because ", dtype, " has minimums, found that they were left out");
  }
  TRY(require_shape(name, "C5", "y", a.y, {a.weights.size(0)}));
  TRY(require_contiguous(name, "C5", "y", a.y));
  return {};
}

Cost VecDot::cost(const Arguments& a) {
  const double sums = is_present(a.sums) ? static_cast<double>(a.sums.count()) : 0;
  return {.operations = 2 * static_cast<double>(a.weights.count()),
          .bytes_read = stored_bytes(a.weights) + static_cast<double>(a.codes.count()) +
                        4 * static_cast<double>(a.scales.count()) + 4 * sums,
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

// Terms cancel, and their roundings do not: errors are measured against the largest sum of magnitudes among the rows.
Tolerance VecDot::tolerance(const Arguments& a) {
  double largest = 0;
  if (a.weights.data() != nullptr && a.codes.data() != nullptr && a.scales.data() != nullptr) {
    for (std::int64_t row = 0; row < a.y.size(0); ++row) {
      double magnitude = 0;
      for_each_term(a, row,
                    [&](double product, double minimum) { magnitude += std::fabs(product) + std::fabs(minimum); });
      if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
  }
  return {
      .epsilons = 8,
      .reason = "up to five roundings a term, and those of a sum in lanes, against the sum of the terms' magnitudes",
      .least_scale = largest};
}

std::span<const Variant<VecDot>> VecDot::variants() {
  static const Variant<VecDot> table[] = {
      vec_dot_cuda,
      INGOT_SIMD_ROWS(vec_dot_simd),
      {"reference", {}, vec_dot_reference},
  };
  return table;
}

template const Operation& describe_operation<VecDot>();

}  // namespace ingot
