// Shapes: a single element, odd widths around every vector length, rank above 2, no rows; both types, with and without
// a zero point; scales that make codes saturate and scales that do not.
#pragma once

#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_tensor.h"

namespace ingot {

inline void QuantizePerTensor::cases(CaseList<QuantizePerTensor>& list) {
  auto make = [](DType dtype, Shape shape, double scale, Presence zero_point) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.scale = builder.filled({1}, Fill::uniform(scale, 2 * scale));
      if (zero_point == Presence::required) a.zero_point = builder.filled_any(dtype, {1});
      a.y = builder.blank_any(dtype, shape);
      return a;
    };
  };
  for (DType dtype : {DType::i8, DType::u8}) {
    const std::string to = " to " + std::string(name_of(dtype));
    for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000}) {
      list.parity("3 x " + std::to_string(width) + to, make(dtype, {3, width}, 0.02, Presence::required));
    }
    list.parity("without a zero point" + to, make(dtype, {5, 37}, 0.001, Presence::optional));
  }
  list.parity("rank 4", make(DType::u8, {2, 3, 2, 40}, 0.05, Presence::required));
  list.parity("rank 1", make(DType::i8, {65}, 0.05, Presence::required));
  list.parity("no rows", make(DType::i8, {0, 8}, 0.05, Presence::required));
  list.benchmark("512 x 4096 to i8", make(DType::i8, {512, 4096}, 0.02, Presence::required));
}

inline void DequantizePerTensor::cases(CaseList<DequantizePerTensor>& list) {
  auto make = [](DType dtype, Shape shape, Presence zero_point) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled_any(dtype, shape);
      a.scale = builder.filled({1});
      if (zero_point == Presence::required) a.zero_point = builder.filled_any(dtype, {1});
      a.y = builder.blank(shape);
      return a;
    };
  };
  for (DType dtype : {DType::i8, DType::u8}) {
    const std::string of = " of " + std::string(name_of(dtype));
    for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000}) {
      list.parity("3 x " + std::to_string(width) + of, make(dtype, {3, width}, Presence::required));
    }
    list.parity("without a zero point" + of, make(dtype, {5, 37}, Presence::optional));
  }
  list.parity("rank 4", make(DType::u8, {2, 3, 2, 40}, Presence::required));
  list.parity("rank 1", make(DType::i8, {65}, Presence::required));
  list.parity("no rows", make(DType::i8, {0, 8}, Presence::required));
  list.benchmark("512 x 4096 of i8", make(DType::i8, {512, 4096}, Presence::required));
}

}  // namespace ingot
