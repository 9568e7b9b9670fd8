#include "kernels/layout/scatter_add.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/constraints.h"
#include "kernels/layout/scatter_add_cases.h"

namespace ingot {

Result<void> ScatterAdd::check(const Arguments& a) {
  TRY(require_indexed_rows(name, "y", a.y, a.indices, "x", a.x));
  if (!is_present(a.base)) return {};
  TRY(require_shape(name, "C1", "base", a.base, a.y.shape()));
  return require_contiguous_rows(name, "C4", "base", a.base);
}

Cost ScatterAdd::cost(const Arguments& a) {
  const double base = is_present(a.base) ? bytes_of(a.base) : 0;
  return {.operations = static_cast<double>(a.x.count()),
          .bytes_read = bytes_of(a.x) + bytes_of(a.indices) + base,
          .bytes_written = bytes_of(a.y)};
}

Tolerance ScatterAdd::tolerance(const Arguments&) {
  return {
      .epsilons = 8, .scale = ErrorScale::tensor, .reason = "a float sum of the rows with one index, which may cancel"};
}

std::span<const Variant<ScatterAdd>> ScatterAdd::variants() {
  static const Variant<ScatterAdd> table[] = {
      scatter_add_cuda,
      INGOT_SIMD_ROWS(scatter_add_simd),
      {"reference", {}, scatter_add_reference},
  };
  return table;
}

Result<void> ScatterAddBackward::check(const Arguments& a) {
  TRY(require_indexed_rows(name, "dy", a.dy, a.indices, "dx", a.dx));
  if (!is_present(a.dbase)) return {};
  TRY(require_shape(name, "C1", "dbase", a.dbase, a.dy.shape()));
  return require_contiguous_rows(name, "C4", "dbase", a.dbase);
}

Cost ScatterAddBackward::cost(const Arguments& a) {
  const double dbase = is_present(a.dbase) ? bytes_of(a.dbase) : 0;
  return {.bytes_read = bytes_of(a.dx) + bytes_of(a.indices) + dbase, .bytes_written = bytes_of(a.dx) + dbase};
}

Tolerance ScatterAddBackward::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<ScatterAddBackward>> ScatterAddBackward::variants() {
  static const Variant<ScatterAddBackward> table[] = {
      INGOT_SIMD_ROWS(scatter_add_backward_simd),
      {"reference", {}, scatter_add_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<ScatterAdd>();
template const Operation& describe_operation<ScatterAddBackward>();

}  // namespace ingot
