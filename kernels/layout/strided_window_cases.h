// Windows that overlap, touch and leave gaps; a single window; one element each; leftover elements at the end.
#pragma once

#include "kernels/layout/strided_window.h"
#include "tensor/subview.h"

namespace ingot {

inline Shape windows_shape(const Shape& signal, std::int64_t length, std::int64_t step) {
  Shape shape = signal;
  shape[signal.rank() - 1] = window_count(signal.last(), length, step);
  shape.push_back(length);
  return shape;
}

inline void StridedWindow::cases(CaseList<StridedWindow>& list) {
  auto window = [](DType dtype, Shape shape, std::int64_t length, std::int64_t step) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled_any(dtype, shape), length, step,
                       builder.blank_any(dtype, windows_shape(shape, length, step))};
    };
  };
  list.parity("2 x 19, length 5 step 2", window(DType::f32, {2, 19}, 5, 2));
  list.parity("2 x 3 x 101, length 33 step 1", window(DType::f16, {2, 3, 101}, 33, 1));
  list.parity("rank 5", window(DType::u8, {2, 1, 2, 3, 41}, 7, 4));
  list.parity("gaps", window(DType::i64, {50}, 3, 10));
  list.parity("one window", window(DType::f32, {3, 17}, 17, 1));
  list.parity("single elements", window(DType::f32, {3, 17}, 1, 1));
  list.parity("nothing", window(DType::f32, {0, 9}, 4, 2));
  list.gradient("2 x 7, length 3 step 2", window(DType::f32, {2, 7}, 3, 2));
  list.gradient("9, length 2 step 3", window(DType::f32, {9}, 2, 3));
  list.benchmark("80 x 3000, length 400 step 160 f32", window(DType::f32, {80, 3000}, 400, 160));
}

inline void StridedWindowBackward::cases(CaseList<StridedWindowBackward>& list) {
  auto window = [](Shape shape, std::int64_t length, std::int64_t step) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled(windows_shape(shape, length, step)), length, step, builder.blank(shape)};
    };
  };
  list.parity("2 x 19, length 5 step 2", window({2, 19}, 5, 2));
  list.parity("2 x 3 x 101, length 33 step 1", window({2, 3, 101}, 33, 1));
  list.parity("gaps", window({50}, 3, 10));
  list.parity("one window", window({3, 17}, 17, 1));
  list.parity("nothing", window({0, 9}, 4, 2));
  list.benchmark("80 x 3000, length 400 step 160", window({80, 3000}, 400, 160));
}

}  // namespace ingot
