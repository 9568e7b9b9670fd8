// Shapes: a single element, odd widths around every vector length, many rows, rank above 2, no rows; data of one sign.
#pragma once

#include "kernels/quantization/dynamic_quantize.h"

namespace ingot {

inline void DynamicQuantize::cases(CaseList<DynamicQuantize>& list) {
  auto make = [](Shape shape, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, fill);
      a.y = builder.blank<std::uint8_t>(shape);
      a.scale = builder.blank({1});
      a.zero_point = builder.blank<std::uint8_t>({1});
      return a;
    };
  };
  for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000}) {
    list.parity("3 x " + std::to_string(width), make({3, width}));
  }
  list.parity("many rows", make({300, 129}));
  list.parity("rank 4", make({2, 3, 2, 40}));
  list.parity("rank 1", make({65}));
  list.parity("all positive", make({4, 50}, Fill::uniform(1, 3)));
  list.parity("all negative", make({4, 50}, Fill::uniform(-3, -1)));
  list.parity("no rows", make({0, 8}));
  list.benchmark("512 x 4096", make({512, 4096}));
}

}  // namespace ingot
