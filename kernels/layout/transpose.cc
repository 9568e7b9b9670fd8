#include "kernels/layout/transpose.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/constraints.h"
#include "kernels/layout/transpose_cases.h"
#include "tensor/subview.h"

namespace ingot {
namespace {

Result<void> check_transposition(std::string_view name, std::string_view from_name, const ConstAnyView& from,
                                 std::string_view to_name, const ConstAnyView& to, std::int64_t axis_a,
                                 std::int64_t axis_b) {
  TRY(require_rank_between(name, "C1", from_name, from, 1, max_rank));
  TRY(require_axis(name, "C1", "axis_a", axis_a, from.rank()));
  TRY(require_axis(name, "C1", "axis_b", axis_b, from.rank()));
  Shape shape = from.shape();
  std::swap(shape[static_cast<int>(axis_a)], shape[static_cast<int>(axis_b)]);
  return require_shape(name, "C2", to_name, to, shape);
}

}  // namespace

Result<void> Transpose::check(const Arguments& a) {
  TRY(check_transposition(name, "x", a.x, "y", a.y, a.axis_a, a.axis_b));
  TRY(require_dtype(name, "C3", "y", a.y, {a.x.dtype()}));
  const int last = a.x.rank() - 1;
  if (is_block_format(a.x.dtype()) && a.axis_a != a.axis_b && (a.axis_a == last || a.axis_b == last)) {
    return violated(name, "C3", "expected axes before the last for ", a.x.dtype(), ", found axis_a ", a.axis_a,
                    " and axis_b ", a.axis_b, " of ", a.x.shape());
  }
  return {};
}

Cost Transpose::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.x), .bytes_written = bytes_of(a.y)}; }

Tolerance Transpose::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<Transpose>> Transpose::variants() {
  static const Variant<Transpose> table[] = {
      transpose_cuda,
      INGOT_SIMD_ROWS(transpose_simd),
      {"reference", {}, transpose_reference},
  };
  return table;
}

Result<void> TransposeBackward::check(const Arguments& a) {
  return check_transposition(name, "dy", a.dy, "dx", a.dx, a.axis_a, a.axis_b);
}

Cost TransposeBackward::cost(const Arguments& a) {
  return {.bytes_read = bytes_of(a.dy), .bytes_written = bytes_of(a.dx)};
}

Tolerance TransposeBackward::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<TransposeBackward>> TransposeBackward::variants() {
  static const Variant<TransposeBackward> table[] = {
      INGOT_SIMD_ROWS(transpose_backward_simd),
      {"reference", {}, transpose_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Transpose>();
template const Operation& describe_operation<TransposeBackward>();

}  // namespace ingot
