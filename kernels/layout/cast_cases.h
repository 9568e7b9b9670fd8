// Every pair of plain types, with numbers inside and far outside the target's range; strided on both sides.
#pragma once

#include "kernels/layout/cast.h"
#include "tensor/subview.h"

namespace ingot {

inline void Cast::cases(CaseList<Cast>& list) {
  auto convert = [](DType from, DType to, Shape shape, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled_any(from, shape, fill), builder.blank_any(to, shape)};
    };
  };
  constexpr DType plain[] = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8, DType::i32, DType::i64};
  for (DType from : plain) {
    for (DType to : plain) {
      const std::string pair = std::string(name_of(from)) + " to " + std::string(name_of(to));
      list.parity(pair, convert(from, to, {2, 37}));
      // Around the bounds of the 8-bit types, where halves of integers show which way is down.
      if (is_floating_point(from))
        list.parity(pair + " around 8 bits", convert(from, to, {67}, Fill::uniform(-300, 300)));
    }
  }
  list.parity("f32 to i32 around 32 bits", convert(DType::f32, DType::i32, {203}, Fill::uniform(-6e9, 6e9)));
  list.parity("f32 to f16 around its largest", convert(DType::f32, DType::f16, {203}, Fill::uniform(-70000, 70000)));
  list.parity("f32 to f16 below its normal numbers",
              convert(DType::f32, DType::f16, {999}, Fill::uniform(-1e-4, 1e-4)));
  list.parity("several segments", convert(DType::f32, DType::bf16, {3, 20011}));
  list.parity("nothing", convert(DType::f32, DType::i8, {3, 0}));
  list.parity("turned axes", [](CaseBuilder& builder) {
    const AnyView x = builder.filled_any(DType::f32, {5, 70});
    return Arguments{transposed(x, 0, 1), builder.blank_any(DType::f16, {70, 5})};
  });
  list.parity("into every second element", [](CaseBuilder& builder) {
    const AnyView y = builder.blank_any(DType::i8, {3, 600});
    return Arguments{builder.filled_any(DType::f32, {3, 300}), sliced(y, 1, 1, 600, 2)};
  });
  list.gradient("f32 to f32", convert(DType::f32, DType::f32, {2, 5}));
  list.benchmark("512 x 4096 f32 to f16", convert(DType::f32, DType::f16, {512, 4096}));
  list.benchmark("512 x 4096 f16 to f32", convert(DType::f16, DType::f32, {512, 4096}));
  list.benchmark("512 x 4096 f32 to bf16", convert(DType::f32, DType::bf16, {512, 4096}));
  list.benchmark("512 x 4096 f32 to i8", convert(DType::f32, DType::i8, {512, 4096}));
  list.benchmark("16384 x 4096 f32 to f16", convert(DType::f32, DType::f16, {16384, 4096}));
  list.benchmark("16384 x 4096 f16 to f32", convert(DType::f16, DType::f32, {16384, 4096}));
}

inline void CastBackward::cases(CaseList<CastBackward>& list) {
  auto convert = [](DType from, DType to, Shape shape) {
    return
        [=](CaseBuilder& builder) { return Arguments{builder.filled_any(from, shape), builder.blank_any(to, shape)}; };
  };
  list.parity("f32 to f32", convert(DType::f32, DType::f32, {3, 37}));
  list.parity("f32 to bf16", convert(DType::f32, DType::bf16, {3, 37}));
  list.parity("f16 to f32", convert(DType::f16, DType::f32, {70}));
  list.benchmark("512 x 4096 bf16 to f32", convert(DType::bf16, DType::f32, {512, 4096}));
}

}  // namespace ingot
