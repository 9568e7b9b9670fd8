#include "kernels/quantization/dynamic_quantize.h"

#include "kernels/contract/describe.h"
#include "kernels/quantization/dynamic_quantize_cases.h"

namespace ingot {

Result<void> DynamicQuantize::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "x", a.x, 1, max_rank));
  TRY(require_shape(name, "C2", "y", a.y, a.x.shape()));
  TRY(require_shape(name, "C3", "scale", a.scale, {1}));
  TRY(require_shape(name, "C3", "zero_point", a.zero_point, {1}));
  TRY(require_contiguous_rows(name, "C4", "x", a.x));
  TRY(require_contiguous_rows(name, "C4", "y", a.y));
  return {};
}

Cost DynamicQuantize::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 5 * count, .bytes_read = 4 * count, .bytes_written = count};
}

Tolerance DynamicQuantize::tolerance(const Arguments&) {
  return Tolerance::exact("extremes, division and rounding are exact operations of IEEE 754");
}

std::span<const Variant<DynamicQuantize>> DynamicQuantize::variants() {
  static const Variant<DynamicQuantize> table[] = {
      dynamic_quantize_cuda,
      INGOT_SIMD_ROWS(dynamic_quantize_simd, nullptr, dynamic_quantize_simd_scratch),
      {"reference", {}, dynamic_quantize_reference},
  };
  return table;
}

template const Operation& describe_operation<DynamicQuantize>();

}  // namespace ingot
