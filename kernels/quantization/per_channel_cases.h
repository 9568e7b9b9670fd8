// Shapes: the channel axis first, in the middle and last; sizes around every vector length; a single element, nothing;
// both types, with and without zero points.
#pragma once

#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_channel.h"

namespace ingot {

inline void QuantizePerChannel::cases(CaseList<QuantizePerChannel>& list) {
  auto make = [](DType dtype, Shape shape, std::int32_t axis, Presence zero_point = Presence::required) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      const Shape channels = {shape[axis]};
      a.x = builder.filled(shape, Fill::values(), Packing::contiguous);
      a.scale = builder.filled(channels, Fill::uniform(0.001, 0.05), Packing::contiguous);
      if (zero_point == Presence::required) {
        a.zero_point = builder.filled_any(dtype, channels, Fill::values(), Packing::contiguous);
      }
      a.axis = axis;
      a.y = builder.blank_any(dtype, shape, Packing::contiguous);
      return a;
    };
  };
  for (DType dtype : {DType::i8, DType::u8}) {
    const std::string to = " to " + std::string(name_of(dtype));
    for (std::int64_t width : {1, 7, 33, 130}) {
      list.parity("axis 0 of 3 x " + std::to_string(width) + to, make(dtype, {3, width}, 0));
      list.parity("axis 1 of 3 x " + std::to_string(width) + to, make(dtype, {3, width}, 1));
    }
    list.parity("without zero points" + to, make(dtype, {5, 37}, 1, Presence::optional));
    list.parity("middle axis" + to, make(dtype, {2, 5, 3, 19}, 1));
  }
  list.parity("rank 1", make(DType::i8, {65}, 0));
  list.parity("no elements", make(DType::i8, {4, 0, 3}, 0));
  list.parity("no channels", make(DType::i8, {4, 0, 3}, 1));
  list.benchmark("4096 x 4096 by rows to i8", make(DType::i8, {4096, 4096}, 0));
}

inline void DequantizePerChannel::cases(CaseList<DequantizePerChannel>& list) {
  auto make = [](DType dtype, Shape shape, std::int32_t axis, Presence zero_point = Presence::required) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      const Shape channels = {shape[axis]};
      a.x = builder.filled_any(dtype, shape, Fill::values(), Packing::contiguous);
      a.scale = builder.filled(channels, Fill::values(), Packing::contiguous);
      if (zero_point == Presence::required) {
        a.zero_point = builder.filled_any(dtype, channels, Fill::values(), Packing::contiguous);
      }
      a.axis = axis;
      a.y = builder.blank(shape, Packing::contiguous);
      return a;
    };
  };
  for (DType dtype : {DType::i8, DType::u8}) {
    const std::string of = " of " + std::string(name_of(dtype));
    for (std::int64_t width : {1, 7, 33, 130}) {
      list.parity("axis 0 of 3 x " + std::to_string(width) + of, make(dtype, {3, width}, 0));
      list.parity("axis 1 of 3 x " + std::to_string(width) + of, make(dtype, {3, width}, 1));
    }
    list.parity("without zero points" + of, make(dtype, {5, 37}, 1, Presence::optional));
    list.parity("middle axis" + of, make(dtype, {2, 5, 3, 19}, 1));
  }
  list.parity("rank 1", make(DType::i8, {65}, 0));
  list.parity("no elements", make(DType::i8, {4, 0, 3}, 0));
  list.parity("no channels", make(DType::i8, {4, 0, 3}, 1));
  list.benchmark("4096 x 4096 by rows of i8", make(DType::i8, {4096, 4096}, 0));
}

}  // namespace ingot
