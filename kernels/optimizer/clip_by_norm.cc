#include "kernels/optimizer/clip_by_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/optimizer/clip_by_norm_cases.h"

namespace ingot {

float clip_factor(const ClipByNorm::Arguments& a) {
  const double factor = a.max_norm / (double{a.norm(0)} + 1e-6);
  return factor > 1 ? 1.0f : static_cast<float>(factor);
}

Result<void> ClipByNorm::check(const Arguments& a) {
  TRY(check_update_tensors(name, {{"x", a.x}}));
  TRY(require_shape(name, "C2", "norm", a.norm, {1}));
  return require_finite_not_negative(name, "C3", "max_norm", a.max_norm);
}

Cost ClipByNorm::cost(const Arguments& a) { return update_cost(a.x.count(), 1, 1, 1); }

Tolerance ClipByNorm::tolerance(const Arguments&) { return Tolerance::exact("one product, rounded once"); }

std::span<const Variant<ClipByNorm>> ClipByNorm::variants() {
  static const Variant<ClipByNorm> table[] = {
      INGOT_SIMD_ROWS(clip_by_norm_simd),
      {"reference", {}, clip_by_norm_reference},
  };
  return table;
}

template const Operation& describe_operation<ClipByNorm>();

}  // namespace ingot
