#include "kernels/quantization/family.h"

#include "kernels/quantization/dequantize.h"
#include "kernels/quantization/dynamic_quantize.h"
#include "kernels/quantization/per_channel.h"
#include "kernels/quantization/per_tensor.h"
#include "kernels/quantization/quantize.h"
#include "kernels/quantization/quantize_activations.h"
#include "kernels/quantization/vec_dot.h"

namespace ingot {

std::span<const Operation* const> quantization_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Quantize>(),
      &describe_operation<Dequantize>(),
      &describe_operation<QuantizeActivations>(),
      &describe_operation<VecDot>(),
      &describe_operation<QuantizePerTensor>(),
      &describe_operation<DequantizePerTensor>(),
      &describe_operation<QuantizePerChannel>(),
      &describe_operation<DequantizePerChannel>(),
      &describe_operation<DynamicQuantize>(),
  };
  return operations;
}

}  // namespace ingot
