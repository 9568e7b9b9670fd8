#include "kernels/layout/family.h"

#include "kernels/layout/cast.h"
#include "kernels/layout/concat.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/gather_rows.h"
#include "kernels/layout/scatter_add.h"
#include "kernels/layout/slice.h"
#include "kernels/layout/strided_window.h"
#include "kernels/layout/transpose.h"

namespace ingot {

std::span<const Operation* const> layout_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Copy>(),          &describe_operation<CopyBackward>(),
      &describe_operation<Transpose>(),     &describe_operation<TransposeBackward>(),
      &describe_operation<Cast>(),          &describe_operation<CastBackward>(),
      &describe_operation<Concat>(),        &describe_operation<ConcatBackward>(),
      &describe_operation<Slice>(),         &describe_operation<SliceBackward>(),
      &describe_operation<GatherRows>(),    &describe_operation<GatherRowsBackward>(),
      &describe_operation<ScatterAdd>(),    &describe_operation<ScatterAddBackward>(),
      &describe_operation<StridedWindow>(), &describe_operation<StridedWindowBackward>(),
  };
  return operations;
}

}  // namespace ingot
