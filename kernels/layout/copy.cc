#include "kernels/layout/copy.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/constraints.h"
#include "kernels/layout/copy_cases.h"

namespace ingot {

Result<void> Copy::check(const Arguments& a) {
  TRY(require_shape(name, "C1", "y", a.y, a.x.shape()));
  TRY(require_dtype(name, "C2", "y", a.y, {a.x.dtype()}));
  return {};
}

Cost Copy::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.x), .bytes_written = bytes_of(a.y)}; }

Tolerance Copy::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<Copy>> Copy::variants() {
  static const Variant<Copy> table[] = {
      copy_cuda,
      INGOT_SIMD_ROWS(copy_simd),
      {"reference", {}, copy_reference},
  };
  return table;
}

Result<void> CopyBackward::check(const Arguments& a) { return require_shape(name, "C1", "dx", a.dx, a.dy.shape()); }

Cost CopyBackward::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.dy), .bytes_written = bytes_of(a.dx)}; }

Tolerance CopyBackward::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<CopyBackward>> CopyBackward::variants() {
  static const Variant<CopyBackward> table[] = {
      INGOT_SIMD_ROWS(copy_backward_simd),
      {"reference", {}, copy_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Copy>();
template const Operation& describe_operation<CopyBackward>();

}  // namespace ingot
