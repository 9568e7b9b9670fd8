// Two-dimensional convolution as a projection of patches: how a vision encoder turns pixels into tokens.
//
//   y[b,n,i,j] = bias[n] + sum_{c,u,v} x[b, c, i stride_height + u - padding_height, j stride_width + v -
//   padding_width]
//                                      W[n,c,u,v]                                        (0 outside of x)
//
// C1  x is [B, C, H, W] with packed rows
// C2  weights are [N, C, U, V], contiguous, with U, V >= 1
// C3  strides are 1 or more, paddings 0 or more and below U and V; the padded image is at least U x V
// C4  bias, where given, is [N]
// C5  y is [B, N, I, J], I = (H + 2 padding_height - U) / stride_height + 1 and J likewise, with packed rows
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Conv2d {
  static constexpr std::string_view name = "linear.conv2d";
  static constexpr std::string_view equation =
      "y[b,n,i,j] = bias[n] + sum_{c,u,v} x[b, c, i sh + u - ph, j sw + v - pw] W[n,c,u,v]";
  static constexpr Backward backward = Backward::by("linear.conv2d_backward");

  struct Arguments {
    View<const float> x;
    View<const float> weights;
    View<const float> bias;
    std::int32_t stride_height = 1;
    std::int32_t stride_width = 1;
    std::int32_t padding_height = 0;
    std::int32_t padding_width = 0;
    View<float> y;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::x, "x"), weight(&Arguments::weights, "weights"), optional_weight(&Arguments::bias, "bias"),
          attribute(&Arguments::stride_height, "stride_height"), attribute(&Arguments::stride_width, "stride_width"),
          attribute(&Arguments::padding_height, "padding_height"),
          attribute(&Arguments::padding_width, "padding_width"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Conv2d>> variants();
  static void cases(CaseList<Conv2d>& list);
};

void conv2d_reference(const Conv2d::Arguments& arguments, Context& context);
extern const SimdEntries<Conv2d> conv2d_simd;
extern const Variant<Conv2d> conv2d_cuda;

// dx gathers what each pixel contributed to, dweights what each weight was multiplied with, dbias the sum of dy.
// C1 to C3 as the forward; C5: dy has y's shape; gradients, where given, have the shape of what they are gradients of.
struct Conv2dBackward {
  static constexpr std::string_view name = "linear.conv2d_backward";
  static constexpr std::string_view equation =
      "dW[n,c,u,v] = sum dy[b,n,i,j] x[b,c,i sh + u - ph, j sw + v - pw], dx likewise with W, dbias[n] = sum "
      "dy[b,n,i,j]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> weights;
    View<const float> dy;
    std::int32_t stride_height = 1;
    std::int32_t stride_width = 1;
    std::int32_t padding_height = 0;
    std::int32_t padding_width = 0;
    View<float> dx;
    View<float> dweights;
    View<float> dbias;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::weights, "weights"), input(&Arguments::dy, "dy"),
                        attribute(&Arguments::stride_height, "stride_height"),
                        attribute(&Arguments::stride_width, "stride_width"),
                        attribute(&Arguments::padding_height, "padding_height"),
                        attribute(&Arguments::padding_width, "padding_width"), optional_output(&Arguments::dx, "dx"),
                        optional_output(&Arguments::dweights, "dweights"), optional_output(&Arguments::dbias, "dbias"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Conv2dBackward>> variants();
  static void cases(CaseList<Conv2dBackward>& list);
};

void conv2d_backward_reference(const Conv2dBackward::Arguments& arguments, Context& context);

// The pixel that tap (u, v) of output (i, j) reads; row or column may lie in the padding, outside of the image.
struct ConvolutionPixel {
  std::int64_t row, column;
  bool is_inside;
};

template <class Arguments>
ConvolutionPixel convolution_pixel(const Arguments& a, std::int64_t i, std::int64_t j, std::int64_t u, std::int64_t v) {
  const std::int64_t row = i * a.stride_height + u - a.padding_height;
  const std::int64_t column = j * a.stride_width + v - a.padding_width;
  return {row, column, row >= 0 && row < a.x.size(2) && column >= 0 && column < a.x.size(3)};
}

}  // namespace ingot
