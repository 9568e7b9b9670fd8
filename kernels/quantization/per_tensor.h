// 8-bit integers with one scale and one zero point for a whole tensor (ONNX QuantizeLinear and DequantizeLinear).
//
//   y[i] = saturate(round half to even(x[i] / scale) + zero_point)
//
// C1  x has rank 1 to 6
// C2  y has x's shape, type i8 or u8
// C3  scale has shape [1]; zero_point, where given (it is 0 otherwise), too, and y's type
// C4  the last axes of x and y are packed; rows may lie anywhere
// What a quotient that is NaN becomes: kernels/quantization/affine_code.h.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct QuantizePerTensor {
  static constexpr std::string_view name = "quantization.quantize_per_tensor";
  static constexpr std::string_view equation = "y[i] = saturate(round(x[i] / scale) + zero_point)";
  static constexpr Backward backward = Backward::none("a step function: its derivative is zero almost everywhere");

  struct Arguments {
    View<const float> x;
    View<const float> scale;
    ConstAnyView zero_point;
    AnyView y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::scale, "scale"),
                        optional_input(&Arguments::zero_point, "zero_point"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<QuantizePerTensor>> variants();
  static void cases(CaseList<QuantizePerTensor>& list);
};

void quantize_per_tensor_reference(const QuantizePerTensor::Arguments& arguments, Context& context);
extern const SimdEntries<QuantizePerTensor> quantize_per_tensor_simd;
extern const Variant<QuantizePerTensor> quantize_per_tensor_cuda;

// And back:
//
//   y[i] = (x[i] - zero_point) scale
//
// C1  x has rank 1 to 6, type i8 or u8
// C2  y has x's shape
// C3  scale has shape [1]; zero_point, where given (it is 0 otherwise), too, and x's type
// C4  the last axes of x and y are packed; rows may lie anywhere
struct DequantizePerTensor {
  static constexpr std::string_view name = "quantization.dequantize_per_tensor";
  static constexpr std::string_view equation = "y[i] = (x[i] - zero_point) scale";
  static constexpr Backward backward = Backward::none("codes are integers: there is nothing to differentiate by");

  struct Arguments {
    ConstAnyView x;
    View<const float> scale;
    ConstAnyView zero_point;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::scale, "scale"),
                        optional_input(&Arguments::zero_point, "zero_point"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<DequantizePerTensor>> variants();
  static void cases(CaseList<DequantizePerTensor>& list);
};

void dequantize_per_tensor_reference(const DequantizePerTensor::Arguments& arguments, Context& context);
extern const SimdEntries<DequantizePerTensor> dequantize_per_tensor_simd;
extern const Variant<DequantizePerTensor> dequantize_per_tensor_cuda;

}  // namespace ingot
