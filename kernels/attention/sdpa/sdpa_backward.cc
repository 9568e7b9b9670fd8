#include "kernels/attention/sdpa/sdpa_backward.h"

#include "kernels/attention/sdpa/sdpa_backward_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {

Result<void> SdpaBackward::check(const Arguments& a) {
  TRY(check_sdpa_inputs(name, a));
  const Shape outputs = {a.batches(), a.heads(), a.queries(), a.value_dimensions()};
  TRY(require_shape(name, "C8", "y", a.y, outputs));
  TRY(require_shape(name, "C8", "dy", a.dy, outputs));
  TRY(require_contiguous_rows(name, "C8", "y", a.y));
  TRY(require_contiguous_rows(name, "C8", "dy", a.dy));
  TRY(require_shape(name, "C8", "log_sum_exp", a.log_sum_exp, {a.batches(), a.heads(), a.queries()}));
  TRY(require_shape(name, "C9", "dq", a.dq, a.q.shape()));
  TRY(require_shape(name, "C9", "dk", a.dk, a.k.shape()));
  TRY(require_shape(name, "C9", "dv", a.dv, a.v.shape()));
  TRY(require_contiguous_rows(name, "C9", "dq", a.dq));
  TRY(require_contiguous_rows(name, "C9", "dk", a.dk));
  TRY(require_contiguous_rows(name, "C9", "dv", a.dv));
  if (is_present(a.dsinks)) {
    if (!is_present(a.sinks)) return violated(name, "C10", "expected sinks beside dsinks, found none");
    TRY(require_shape(name, "C10", "dsinks", a.dsinks, {a.heads()}));
  }
  return {};
}

Cost SdpaBackward::cost(const Arguments& a) {
  const double pairs = visible_pairs(a);
  const auto key = static_cast<double>(a.dimensions());
  const auto value = static_cast<double>(a.value_dimensions());
  const auto inputs = static_cast<double>(a.q.count() + a.k.count() + a.v.count());
  // Five products a pair (scores again, dw, dv, dq, dk) and the exponential.
  return {.operations = pairs * (6 * key + 4 * value + 20),
          .bytes_read = 4 * (inputs + 2 * static_cast<double>(a.y.count())),
          .bytes_written = 4 * inputs};
}

Tolerance SdpaBackward::tolerance(const Arguments&) {
  return {.epsilons = 64,
          .scale = ErrorScale::tensor,
          .reason = "sums of products of differences that may cancel, measured against the largest gradient"};
}

std::span<const Variant<SdpaBackward>> SdpaBackward::variants() {
  static const Variant<SdpaBackward> table[] = {
      INGOT_SIMD_ROWS(sdpa_backward_simd, nullptr, sdpa_backward_scratch_bytes),
      {"reference", {}, sdpa_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<SdpaBackward>();

}  // namespace ingot
