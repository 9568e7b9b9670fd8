// Images, channels alone, no images; in place.
#pragma once

#include "kernels/norm/batch_norm.h"

namespace ingot {

inline void BatchNorm::cases(CaseList<BatchNorm>& list) {
  auto separate = [](Shape shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, Fill::values(), Packing::contiguous);
      a.gamma = builder.filled({shape[1]}, Fill::uniform(-2, 2));
      a.beta = builder.filled({shape[1]}, Fill::uniform(-1, 1));
      a.mean = builder.filled({shape[1]}, Fill::uniform(-1, 1));
      a.variance = builder.filled({shape[1]}, Fill::uniform(0.25, 4));
      a.y = builder.blank(shape, Packing::contiguous);
      return a;
    };
  };
  list.parity("one number", separate({1, 1, 1}));
  list.parity("channels alone", separate({3, 12}));
  list.parity("images of 5 x 7", separate({2, 6, 5, 7}));
  list.parity("volumes", separate({1, 4, 3, 5, 7}));
  list.parity("several chunks", separate({3, 5, 67, 65}));
  list.parity("no images", separate({0, 4, 8}));
  list.parity("in place", [separate](CaseBuilder& builder) {
    Arguments a = separate({2, 4, 19})(builder);
    const View<float> x = builder.filled({2, 4, 19}, Fill::values(), Packing::contiguous);
    a.x = x;
    a.y = x;
    return a;
  });
  list.benchmark("1 x 64 x 112 x 112", separate({1, 64, 112, 112}));
}

}  // namespace ingot
