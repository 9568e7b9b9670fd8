#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_tensor.h"
#include "tensor/rows.h"

namespace ingot {

void quantize_per_tensor_reference(const QuantizePerTensor::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const float scale = *arguments.scale.data();
  with_code_type(arguments.y.dtype(), [&]<class Code>() {
    const Rows y(arguments.y.as<Code>());
    const int zero_point = zero_point_at<Code>(arguments.zero_point, 0);
    for (std::int64_t row = 0; row < x.count(); ++row) {
      for (std::int64_t i = 0; i < x.length(); ++i) y[row][i] = affine_code<Code>(x[row][i], scale, zero_point);
    }
  });
}

void dequantize_per_tensor_reference(const DequantizePerTensor::Arguments& arguments, Context&) {
  const Rows y(arguments.y);
  const float scale = *arguments.scale.data();
  with_code_type(arguments.x.dtype(), [&]<class Code>() {
    const Rows x(arguments.x.as<const Code>());
    const int zero_point = zero_point_at<Code>(arguments.zero_point, 0);
    for (std::int64_t row = 0; row < y.count(); ++row) {
      for (std::int64_t i = 0; i < y.length(); ++i) y[row][i] = affine_value(x[row][i], scale, zero_point);
    }
  });
}

}  // namespace ingot
