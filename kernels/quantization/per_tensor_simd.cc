#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_tensor.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/per_tensor_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/quantization/affine_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

template <class Code>
void quantize_rows(const QuantizePerTensor::Arguments& arguments, Context& context) {
  const Rows x(arguments.x);
  const Rows y(arguments.y.as<Code>());
  const float scale = *arguments.scale.data();
  const int zero_point = zero_point_at<Code>(arguments.zero_point, 0);
  context.workers.for_chunks(x.count(), rows_per_chunk(5 * x.length()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row)
      quantize_stretch<Code>(x[row], scale, zero_point, y[row], x.length());
  });
}

template <class Code>
void dequantize_rows(const DequantizePerTensor::Arguments& arguments, Context& context) {
  const Rows x(arguments.x.as<const Code>());
  const Rows y(arguments.y);
  const float scale = *arguments.scale.data();
  const int zero_point = zero_point_at<Code>(arguments.zero_point, 0);
  context.workers.for_chunks(x.count(), rows_per_chunk(5 * x.length()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) dequantize_stretch(x[row], scale, zero_point, y[row], x.length());
  });
}

void quantize_per_tensor(const QuantizePerTensor::Arguments& arguments, Context& context) {
  with_code_type(arguments.y.dtype(), [&]<class Code>() { quantize_rows<Code>(arguments, context); });
}

void dequantize_per_tensor(const DequantizePerTensor::Arguments& arguments, Context& context) {
  with_code_type(arguments.x.dtype(), [&]<class Code>() { dequantize_rows<Code>(arguments, context); });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<QuantizePerTensor> quantize_per_tensor_simd = INGOT_SIMD_ENTRIES(quantize_per_tensor);
const SimdEntries<DequantizePerTensor> dequantize_per_tensor_simd = INGOT_SIMD_ENTRIES(dequantize_per_tensor);
}  // namespace ingot
#endif
