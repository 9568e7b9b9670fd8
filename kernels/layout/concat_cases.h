// One to four parts, along the first, a middle and the last axis; empty parts; blocks.
#pragma once

#include <vector>

#include "kernels/layout/concat.h"

namespace ingot {

inline void Concat::cases(CaseList<Concat>& list) {
  auto join = [](DType dtype, Shape shape, int axis, std::vector<std::int64_t> sizes, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      Arguments arguments;
      arguments.axis = axis;
      Shape whole = shape;
      whole[axis] = 0;
      ConstAnyView* const parts[] = {&arguments.a, &arguments.b, &arguments.c, &arguments.d};
      for (std::size_t index = 0; index < sizes.size(); ++index) {
        Shape part = shape;
        part[axis] = sizes[index];
        whole[axis] += sizes[index];
        *parts[index] = builder.filled_any(dtype, part, fill);
      }
      arguments.y = builder.blank_any(dtype, whole);
      return arguments;
    };
  };
  list.parity("two along the last axis", join(DType::f32, {3, 0}, 1, {5, 8}));
  list.parity("four along the middle axis", join(DType::f32, {2, 0, 7}, 1, {1, 2, 3, 4}));
  list.parity("three along the first axis", join(DType::f16, {0, 33}, 0, {1, 4, 2}));
  list.parity("one part", join(DType::i32, {0, 3}, 0, {4}));
  list.parity("an empty part", join(DType::bf16, {3, 0}, 1, {5, 0, 2}));
  list.parity("bytes", join(DType::u8, {2, 0}, 1, {67, 130}));
  list.parity("blocks", join(DType::q8_0, {3, 0}, 1, {32, 96}, Fill::uniform(-2, 2)));
  list.gradient("three along the last axis", join(DType::f32, {2, 0}, 1, {2, 1, 3}));
  list.gradient("four along the first axis", join(DType::f32, {0, 3}, 0, {1, 2, 1, 1}));
  list.benchmark("512 x (1024 + 3072) f32", join(DType::f32, {512, 0}, 1, {1024, 3072}));
}

inline void ConcatBackward::cases(CaseList<ConcatBackward>& list) {
  auto split = [](Shape shape, int axis, std::vector<std::int64_t> sizes) {
    return [=](CaseBuilder& builder) {
      Arguments arguments;
      arguments.axis = axis;
      Shape whole = shape;
      whole[axis] = 0;
      for (std::int64_t size : sizes) whole[axis] += size;
      arguments.dy = builder.filled(whole);
      View<float>* const parts[] = {&arguments.da, &arguments.db, &arguments.dc, &arguments.dd};
      for (std::size_t index = 0; index < sizes.size(); ++index) {
        Shape part = shape;
        part[axis] = sizes[index];
        *parts[index] = builder.blank(part);
      }
      return arguments;
    };
  };
  list.parity("two along the last axis", split({3, 0}, 1, {5, 8}));
  list.parity("four along the middle axis", split({2, 0, 7}, 1, {1, 2, 3, 4}));
  list.parity("an empty part", split({0, 3}, 0, {4, 0}));
  list.benchmark("512 x (1024 + 3072)", split({512, 0}, 1, {1024, 3072}));
}

}  // namespace ingot
