#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_channel.h"

namespace ingot {

void quantize_per_channel_reference(const QuantizePerChannel::Arguments& arguments, Context&) {
  const ChannelShape shape = channel_shape(arguments.x.shape(), arguments.axis);
  const float* x = arguments.x.data();
  with_code_type(arguments.y.dtype(), [&]<class Code>() {
    auto* y = reinterpret_cast<Code*>(arguments.y.data());
    for (std::int64_t i = 0; i < arguments.x.count(); ++i) {
      const std::int64_t channel = i / shape.inner % shape.channels;
      const int zero_point = zero_point_at<Code>(arguments.zero_point, channel);
      y[i] = affine_code<Code>(x[i], arguments.scale.data()[channel], zero_point);
    }
  });
}

void dequantize_per_channel_reference(const DequantizePerChannel::Arguments& arguments, Context&) {
  const ChannelShape shape = channel_shape(arguments.x.shape(), arguments.axis);
  float* y = arguments.y.data();
  with_code_type(arguments.x.dtype(), [&]<class Code>() {
    const auto* x = reinterpret_cast<const Code*>(arguments.x.data());
    for (std::int64_t i = 0; i < arguments.x.count(); ++i) {
      const std::int64_t channel = i / shape.inner % shape.channels;
      const int zero_point = zero_point_at<Code>(arguments.zero_point, channel);
      y[i] = affine_value(x[i], arguments.scale.data()[channel], zero_point);
    }
  });
}

}  // namespace ingot
