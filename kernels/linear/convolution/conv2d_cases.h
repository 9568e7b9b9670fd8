// Shapes: one pixel, patches side by side as a vision encoder cuts them, overlapping and padded filters, no images.
#pragma once

#include "kernels/linear/convolution/conv2d.h"

namespace ingot {

struct Conv2dShape {
  std::int64_t images, channels, height, width, filters, filter_height, filter_width;
  std::int32_t stride_height = 1, stride_width = 1, padding_height = 0, padding_width = 0;

  Shape output() const {
    return {images, filters, (height + 2 * padding_height - filter_height) / stride_height + 1,
            (width + 2 * padding_width - filter_width) / stride_width + 1};
  }
};

template <class Arguments>
void fill_convolution(CaseBuilder& builder, const Conv2dShape& shape, Arguments& a) {
  a.x = builder.filled({shape.images, shape.channels, shape.height, shape.width});
  a.weights = builder.filled({shape.filters, shape.channels, shape.filter_height, shape.filter_width},
                             Fill::uniform(-1, 1), Packing::contiguous);
  a.stride_height = shape.stride_height;
  a.stride_width = shape.stride_width;
  a.padding_height = shape.padding_height;
  a.padding_width = shape.padding_width;
}

inline void Conv2d::cases(CaseList<Conv2d>& list) {
  auto build = [](Conv2dShape shape, bool with_bias) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      fill_convolution(builder, shape, a);
      if (with_bias) a.bias = builder.filled({shape.filters}, Fill::uniform(-1, 1));
      a.y = builder.blank(shape.output());
      return a;
    };
  };
  list.parity("one pixel", build({1, 1, 1, 1, 1, 1, 1}, false));
  list.parity("patches of 4 x 4", build({2, 3, 8, 12, 5, 4, 4, 4, 4}, true));
  list.parity("3 x 3 padded", build({1, 2, 5, 7, 3, 3, 3, 1, 1, 1, 1}, true));
  list.parity("uneven strides and padding", build({2, 1, 9, 6, 2, 3, 2, 2, 3, 2, 1}, false));
  list.parity("no images", build({0, 2, 4, 4, 3, 2, 2}, false));
  list.gradient("2 x 2 over 3 x 3", build({1, 2, 3, 3, 2, 2, 2, 1, 1, 1, 0}, true));
  list.benchmark("16 x 16 patches of 224 x 224, 192 filters", build({1, 3, 224, 224, 192, 16, 16, 16, 16}, true));
}

inline void Conv2dBackward::cases(CaseList<Conv2dBackward>& list) {
  auto build = [](Conv2dShape shape) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      fill_convolution(builder, shape, a);
      a.dy = builder.filled(shape.output(), Fill::uniform(-1, 1));
      a.dx = builder.blank(a.x.shape());
      a.dweights = builder.blank(a.weights.shape(), Packing::contiguous);
      a.dbias = builder.blank({shape.filters});
      return a;
    };
  };
  list.parity("3 x 3 padded", build({1, 2, 5, 7, 3, 3, 3, 1, 1, 1, 1}));
  list.parity("uneven strides and padding", build({2, 1, 9, 6, 2, 3, 2, 2, 3, 2, 1}));
  list.benchmark("8 x 8 patches of 64 x 64, 32 filters", build({1, 3, 64, 64, 32, 8, 8, 8, 8}));
}

}  // namespace ingot
