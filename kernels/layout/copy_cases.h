// Every type; packed to packed, strided to packed and packed to strided; a broadcast source; axes in another order.
#pragma once

#include "kernels/layout/copy.h"
#include "tensor/subview.h"

namespace ingot {

inline void Copy::cases(CaseList<Copy>& list) {
  auto same = [](DType dtype, Shape shape, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled_any(dtype, shape, fill), builder.blank_any(dtype, shape)};
    };
  };
  list.parity("3 x 37", same(DType::f32, {3, 37}));
  for (const DTypeInformation& row : dtype_table) {
    // Data in a block format is made by its codec, whose own rounding of strange numbers is not at stake here.
    const Fill fill = row.block_elements > 1 ? Fill::uniform(-2, 2) : Fill::values();
    const std::int64_t width = row.block_elements > 1 ? 2 * row.block_elements : 131;
    list.parity("2 x 3 x " + std::to_string(width) + " " + std::string(row.name), same(row.dtype, {2, 3, width}, fill));
  }
  list.parity("a single number", same(DType::f32, {}));
  list.parity("rank 6", same(DType::f16, {2, 1, 3, 2, 2, 5}));
  list.parity("nothing", same(DType::f32, {4, 0, 3}));
  list.parity("several segments", same(DType::u8, {1, 200001}));
  for (DType dtype : {DType::f32, DType::f16, DType::i8, DType::i64}) {
    // [4, 70, 37] read through a view with all axes turned round: a transposition of the outer and the inner axis.
    list.parity("turned axes " + std::string(name_of(dtype)), [dtype](CaseBuilder& builder) {
      const AnyView x = builder.filled_any(dtype, {4, 70, 37});
      return Arguments{transposed(x, 0, 2), builder.blank_any(dtype, {37, 70, 4})};
    });
    list.parity("every third element " + std::string(name_of(dtype)), [dtype](CaseBuilder& builder) {
      const AnyView x = builder.filled_any(dtype, {5, 100});
      return Arguments{sliced(x, 1, 1, 100, 3), builder.blank_any(dtype, {5, 33})};
    });
  }
  list.parity("a broadcast row", [](CaseBuilder& builder) {
    const View<float> x = builder.filled({19});
    return Arguments{ConstAnyView(View<const float>(x.data(), {6, 19}, {0, 1})), AnyView(builder.blank({6, 19}))};
  });
  list.parity("backwards", [](CaseBuilder& builder) {
    const View<float> x = builder.filled({2, 19});
    const View<const float> reversed(&x(0, 18), {2, 19}, {x.stride(0), -1});
    return Arguments{ConstAnyView(reversed), AnyView(builder.blank({2, 19}))};
  });
  list.parity("blocks with their rows in another order", [](CaseBuilder& builder) {
    const AnyView x = builder.filled_any(DType::q8_0, {3, 5, 64}, Fill::uniform(-2, 2));
    return Arguments{transposed(x, 0, 1), builder.blank_any(DType::q8_0, {5, 3, 64})};
  });
  list.gradient("2 x 5", same(DType::f32, {2, 5}));
  list.benchmark("512 x 4096 f32", same(DType::f32, {512, 4096}));
  list.benchmark("heads in front: 512 x 32 x 128 f32", [](CaseBuilder& builder) {
    const AnyView x = builder.filled_any(DType::f32, {512, 32, 128});
    return Arguments{transposed(x, 0, 1), builder.blank_any(DType::f32, {32, 512, 128})};
  });
}

inline void CopyBackward::cases(CaseList<CopyBackward>& list) {
  auto same = [](Shape shape) {
    return [shape](CaseBuilder& builder) { return Arguments{builder.filled(shape), builder.blank(shape)}; };
  };
  list.parity("3 x 37", same({3, 37}));
  list.parity("rank 4", same({2, 3, 1, 17}));
  list.parity("nothing", same({0, 3}));
  list.benchmark("512 x 4096", same({512, 4096}));
}

}  // namespace ingot
