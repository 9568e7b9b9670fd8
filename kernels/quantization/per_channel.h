// 8-bit integers with a scale and a zero point for each index of one axis (ONNX QuantizeLinear with an axis).
//
//   y[i] = saturate(round half to even(x[i] / scale[c]) + zero_point[c])      c = i[axis]
//
// C1  x has rank 1 to 6, and axis is one of its axes (0 is the first)
// C2  y has x's shape, type i8 or u8
// C3  scale has shape [C], C the size of the axis; zero_point, where given (it is 0 otherwise), too, and y's type
// C4  all tensors are contiguous
// What a quotient that is NaN becomes: kernels/quantization/affine_code.h.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct QuantizePerChannel {
  static constexpr std::string_view name = "quantization.quantize_per_channel";
  static constexpr std::string_view equation = "y[i] = saturate(round(x[i] / scale[c]) + zero_point[c]), c = i[axis]";
  static constexpr Backward backward = Backward::none("a step function: its derivative is zero almost everywhere");

  struct Arguments {
    View<const float> x;
    View<const float> scale;
    ConstAnyView zero_point;
    std::int32_t axis = 0;
    AnyView y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::scale, "scale"),
                        optional_input(&Arguments::zero_point, "zero_point"), attribute(&Arguments::axis, "axis"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<QuantizePerChannel>> variants();
  static void cases(CaseList<QuantizePerChannel>& list);
};

void quantize_per_channel_reference(const QuantizePerChannel::Arguments& arguments, Context& context);
extern const SimdEntries<QuantizePerChannel> quantize_per_channel_simd;
extern const Variant<QuantizePerChannel> quantize_per_channel_cuda;

// And back:
//
//   y[i] = (x[i] - zero_point[c]) scale[c]      c = i[axis]
//
// C1  x has rank 1 to 6, type i8 or u8, and axis is one of its axes (0 is the first)
// C2  y has x's shape
// C3  scale has shape [C], C the size of the axis; zero_point, where given (it is 0 otherwise), too, and x's type
// C4  all tensors are contiguous
struct DequantizePerChannel {
  static constexpr std::string_view name = "quantization.dequantize_per_channel";
  static constexpr std::string_view equation = "y[i] = (x[i] - zero_point[c]) scale[c], c = i[axis]";
  static constexpr Backward backward = Backward::none("codes are integers: there is nothing to differentiate by");

  struct Arguments {
    ConstAnyView x;
    View<const float> scale;
    ConstAnyView zero_point;
    std::int32_t axis = 0;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::scale, "scale"),
                        optional_input(&Arguments::zero_point, "zero_point"), attribute(&Arguments::axis, "axis"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<DequantizePerChannel>> variants();
  static void cases(CaseList<DequantizePerChannel>& list);
};

void dequantize_per_channel_reference(const DequantizePerChannel::Arguments& arguments, Context& context);
extern const SimdEntries<DequantizePerChannel> dequantize_per_channel_simd;
extern const Variant<DequantizePerChannel> dequantize_per_channel_cuda;

// A contiguous tensor seen around its channel axis: [outer, channels, inner].
struct ChannelShape {
  std::int64_t outer = 1;
  std::int64_t channels = 1;
  std::int64_t inner = 1;
};
constexpr ChannelShape channel_shape(const Shape& shape, int channel_axis) {
  ChannelShape split;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    (axis < channel_axis ? split.outer : axis == channel_axis ? split.channels : split.inner) *= shape[axis];
  }
  return split;
}

}  // namespace ingot
