// Matrices around every vector width and tile edge, in elements of 1, 2, 4 and 8 bytes; axes that are not neighbours;
// an axis swapped with itself; blocks.
#pragma once

#include "kernels/layout/transpose.h"

namespace ingot {

inline void Transpose::cases(CaseList<Transpose>& list) {
  auto swap = [](DType dtype, Shape shape, int axis_a, int axis_b, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      Shape swapped = shape;
      std::swap(swapped[axis_a], swapped[axis_b]);
      return Arguments{builder.filled_any(dtype, shape, fill), axis_a, axis_b, builder.blank_any(dtype, swapped)};
    };
  };
  list.parity("3 x 5", swap(DType::f32, {3, 5}, 0, 1));
  for (DType dtype : {DType::f32, DType::bf16, DType::u8, DType::i64}) {
    for (Shape shape : {Shape{1, 7}, Shape{16, 16}, Shape{67, 131}}) {
      list.parity(std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + " " + std::string(name_of(dtype)),
                  swap(dtype, shape, 0, 1));
    }
  }
  list.parity("first and last of three", swap(DType::f32, {17, 3, 33}, 0, 2));
  list.parity("heads: the middle of four", swap(DType::f16, {2, 3, 5, 64}, 1, 2));
  list.parity("the last two of four", swap(DType::f16, {2, 3, 5, 64}, 3, 2));
  list.parity("an axis with itself", swap(DType::f32, {4, 9}, 1, 1));
  list.parity("rank 1", swap(DType::i32, {5}, 0, 0));
  list.parity("nothing", swap(DType::f32, {0, 5}, 0, 1));
  list.parity("rows of blocks", swap(DType::q4_0, {3, 4, 64}, 0, 1, Fill::uniform(-2, 2)));
  // Large enough for stores that go past the caches, with edges on both sides; benchmarks cover the other widths.
  list.parity("1040 x 1031 f32", swap(DType::f32, {1040, 1031}, 0, 1));
  list.gradient("2 x 5", swap(DType::f32, {2, 5}, 0, 1));
  list.gradient("the ends of three axes", swap(DType::f32, {2, 3, 4}, 0, 2));
  list.benchmark("1024 x 4096 f32", swap(DType::f32, {1024, 4096}, 0, 1));
  list.benchmark("1024 x 4096 f16", swap(DType::f16, {1024, 4096}, 0, 1));
}

inline void TransposeBackward::cases(CaseList<TransposeBackward>& list) {
  auto swap = [](Shape shape, int axis_a, int axis_b) {
    return [=](CaseBuilder& builder) {
      Shape swapped = shape;
      std::swap(swapped[axis_a], swapped[axis_b]);
      return Arguments{builder.filled(shape), axis_a, axis_b, builder.blank(swapped)};
    };
  };
  list.parity("3 x 5", swap({3, 5}, 0, 1));
  list.parity("67 x 131", swap({67, 131}, 0, 1));
  list.parity("first and last of three", swap({5, 3, 7}, 0, 2));
  list.benchmark("1024 x 4096", swap({1024, 4096}, 0, 1));
}

}  // namespace ingot
