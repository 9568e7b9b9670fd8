// The vector variants of every operation that only moves elements: each says which views are moved onto which.
#include "kernels/layout/concat.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/movement.h"
#include "kernels/layout/slice.h"
#include "kernels/layout/strided_window.h"
#include "kernels/layout/transpose.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/subview.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layout/movement_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/layout/move-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void copy(const Copy::Arguments& a, Context& context) { move_elements(a.x, a.y, context); }

void copy_backward(const CopyBackward::Arguments& a, Context& context) { move_elements(a.dy, a.dx, context); }

void transpose(const Transpose::Arguments& a, Context& context) {
  move_elements(transposed(a.x, a.axis_a, a.axis_b), a.y, context);
}

void transpose_backward(const TransposeBackward::Arguments& a, Context& context) {
  move_elements(transposed(ConstAnyView(a.dy), a.axis_a, a.axis_b), a.dx, context);
}

void concat(const Concat::Arguments& a, Context& context) {
  for_each_part(a.parts(), a.axis, [&](const ConstAnyView& part, std::int64_t begin) {
    move_elements(part, sliced(a.y, a.axis, begin, begin + part.size(static_cast<int>(a.axis))), context);
  });
}

void concat_backward(const ConcatBackward::Arguments& a, Context& context) {
  for_each_part(a.parts(), a.axis, [&](const View<float>& part, std::int64_t begin) {
    const std::int64_t end = begin + part.size(static_cast<int>(a.axis));
    move_elements(sliced(ConstAnyView(a.dy), a.axis, begin, end), part, context);
  });
}

void slice(const Slice::Arguments& a, Context& context) {
  move_elements(sliced(a.x, a.axis, a.begin, a.end, a.step), a.y, context);
}

// Where the slice goes the zeros are written over, which costs less than to tell the two apart.
void slice_backward(const SliceBackward::Arguments& a, Context& context) {
  zero_elements(a.dx, context);
  move_elements(a.dy, sliced(AnyView(a.dx), a.axis, a.begin, a.end, a.step), context);
}

void strided_window(const StridedWindow::Arguments& a, Context& context) {
  move_elements(windowed(a.x, a.length, a.step), a.y, context);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Copy> copy_simd = INGOT_SIMD_ENTRIES(copy);
const SimdEntries<CopyBackward> copy_backward_simd = INGOT_SIMD_ENTRIES(copy_backward);
const SimdEntries<Transpose> transpose_simd = INGOT_SIMD_ENTRIES(transpose);
const SimdEntries<TransposeBackward> transpose_backward_simd = INGOT_SIMD_ENTRIES(transpose_backward);
const SimdEntries<Concat> concat_simd = INGOT_SIMD_ENTRIES(concat);
const SimdEntries<ConcatBackward> concat_backward_simd = INGOT_SIMD_ENTRIES(concat_backward);
const SimdEntries<Slice> slice_simd = INGOT_SIMD_ENTRIES(slice);
const SimdEntries<SliceBackward> slice_backward_simd = INGOT_SIMD_ENTRIES(slice_backward);
const SimdEntries<StridedWindow> strided_window_simd = INGOT_SIMD_ENTRIES(strided_window);
}  // namespace ingot
#endif
