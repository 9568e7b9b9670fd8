// Ranges at the ends and in the middle, steps that divide and that do not, empty ranges, blocks.
#pragma once

#include "kernels/layout/slice.h"
#include "tensor/subview.h"

namespace ingot {

inline void Slice::cases(CaseList<Slice>& list) {
  auto cut = [](DType dtype, Shape shape, int axis, std::int64_t begin, std::int64_t end, std::int64_t step,
                Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      Shape part = shape;
      part[axis] = slice_size(begin, end, step);
      return Arguments{builder.filled_any(dtype, shape, fill), axis, begin, end, step, builder.blank_any(dtype, part)};
    };
  };
  list.parity("columns 3 to 40 of 3 x 67", cut(DType::f32, {3, 67}, 1, 3, 40, 1));
  list.parity("every second column", cut(DType::f32, {3, 67}, 1, 0, 67, 2));
  list.parity("rows of rank 3", cut(DType::f16, {2, 7, 19}, 1, 1, 7, 3));
  list.parity("first axis", cut(DType::u8, {9, 133}, 0, 2, 9, 1));
  list.parity("every fifth of rank 1", cut(DType::i64, {101}, 0, 4, 100, 5));
  list.parity("an empty range", cut(DType::f32, {3, 5}, 1, 5, 5, 1));
  list.parity("a step beyond the end", cut(DType::f32, {3, 5}, 1, 2, 5, 1000));
  list.parity("whole blocks", cut(DType::q8_0, {3, 128}, 1, 32, 96, 1, Fill::uniform(-2, 2)));
  list.parity("rows of blocks", cut(DType::q4_k, {5, 256}, 0, 1, 5, 2, Fill::uniform(-2, 2)));
  list.gradient("2 to 5 of 2 x 6", cut(DType::f32, {2, 6}, 1, 2, 5, 1));
  list.gradient("every second row", cut(DType::f32, {5, 3}, 0, 1, 5, 2));
  list.benchmark("a third of 512 x 6144 f32", cut(DType::f32, {512, 6144}, 1, 2048, 4096, 1));
  list.benchmark("every second of 512 x 4096 f32", cut(DType::f32, {512, 4096}, 1, 0, 4096, 2));
}

inline void SliceBackward::cases(CaseList<SliceBackward>& list) {
  auto place = [](Shape shape, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
    return [=](CaseBuilder& builder) {
      Shape part = shape;
      part[axis] = slice_size(begin, end, step);
      return Arguments{builder.filled(part), axis, begin, end, step, builder.blank(shape)};
    };
  };
  list.parity("columns 3 to 40 of 3 x 67", place({3, 67}, 1, 3, 40, 1));
  list.parity("every third row", place({8, 3, 5}, 0, 1, 8, 3));
  list.parity("an empty range", place({3, 5}, 1, 0, 0, 1));
  list.benchmark("a third of 512 x 6144", place({512, 6144}, 1, 2048, 4096, 1));
}

}  // namespace ingot
