#include "kernels/layout/slice.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/constraints.h"
#include "kernels/layout/slice_cases.h"
#include "tensor/subview.h"

namespace ingot {
namespace {

// C1 to C3 of both: `whole` is what is cut, `part` the cut.
template <class Arguments>
Result<void> check_cut(std::string_view name, const Arguments& a, std::string_view whole_name,
                       const ConstAnyView& whole, std::string_view part_name, const ConstAnyView& part) {
  TRY(require_rank_between(name, "C1", whole_name, whole, 1, max_rank));
  TRY(require_axis(name, "C1", "axis", a.axis, whole.rank()));
  const int axis = static_cast<int>(a.axis);
  if (a.step < 1 || a.begin < 0 || a.begin > a.end || a.end > whole.size(axis)) {
    return violated(name, "C2", "expected 0 <= begin <= end <= ", whole.size(axis), " and step >= 1, found [", a.begin,
                    ", ", a.end, ") step ", a.step);
  }
  Shape shape = whole.shape();
  shape[axis] = slice_size(a.begin, a.end, a.step);
  return require_shape(name, "C3", part_name, part, shape);
}

}  // namespace

Result<void> Slice::check(const Arguments& a) {
  TRY(check_cut(name, a, "x", a.x, "y", a.y));
  TRY(require_dtype(name, "C4", "y", a.y, {a.x.dtype()}));
  const int block = block_elements(a.x.dtype());
  if (block > 1 && a.axis == a.x.rank() - 1 && (a.step != 1 || a.begin % block != 0 || a.end % block != 0)) {
    return violated(name, "C4", "expected whole blocks of ", block, " and step 1 for ", a.x.dtype(), ", found [",
                    a.begin, ", ", a.end, ") step ", a.step);
  }
  return {};
}

Cost Slice::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.y), .bytes_written = bytes_of(a.y)}; }

Tolerance Slice::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<Slice>> Slice::variants() {
  static const Variant<Slice> table[] = {
      slice_cuda,
      INGOT_SIMD_ROWS(slice_simd),
      {"reference", {}, slice_reference},
  };
  return table;
}

Result<void> SliceBackward::check(const Arguments& a) { return check_cut(name, a, "dx", a.dx, "dy", a.dy); }

Cost SliceBackward::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.dy), .bytes_written = bytes_of(a.dx)}; }

Tolerance SliceBackward::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<SliceBackward>> SliceBackward::variants() {
  static const Variant<SliceBackward> table[] = {
      INGOT_SIMD_ROWS(slice_backward_simd),
      {"reference", {}, slice_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Slice>();
template const Operation& describe_operation<SliceBackward>();

}  // namespace ingot
