// 8-bit integers with a scale and a zero point found from the data (ONNX DynamicQuantizeLinear).
//
//   high = max(0, max_i x[i]),  low = min(0, min_i x[i])
//   scale      = (high - low) / 255
//   zero_point = saturate(round half to even(0 - low / scale))
//   y[i]       = saturate(round half to even(x[i] / scale) + zero_point)
//
// Each operation is rounded to float. Values that are not finite do not take part in high and low; they saturate, and
// NaN becomes the zero point. Where (high - low) / 255 is zero, the scale is 1.
//
// C1  x has rank 1 to 6
// C2  y has x's shape
// C3  scale and zero_point have shape [1]
// C4  the last axes of x and y are packed; rows may lie anywhere
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/quantization/affine_code.h"

namespace ingot {

struct DynamicQuantize {
  static constexpr std::string_view name = "quantization.dynamic_quantize";
  static constexpr std::string_view equation =
      "scale = (max(0, max x) - min(0, min x)) / 255, zero_point = round(-min(0, min x) / scale), "
      "y[i] = saturate(round(x[i] / scale) + zero_point)";
  static constexpr Backward backward = Backward::none("a step function: its derivative is zero almost everywhere");

  struct Arguments {
    View<const float> x;
    View<std::uint8_t> y;
    View<float> scale;
    View<std::uint8_t> zero_point;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), output(&Arguments::y, "y"), output(&Arguments::scale, "scale"),
                        output(&Arguments::zero_point, "zero_point"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<DynamicQuantize>> variants();
  static void cases(CaseList<DynamicQuantize>& list);
};

void dynamic_quantize_reference(const DynamicQuantize::Arguments& arguments, Context& context);
std::size_t dynamic_quantize_simd_scratch(const DynamicQuantize::Arguments& arguments, int threads);
extern const SimdEntries<DynamicQuantize> dynamic_quantize_simd;
extern const Variant<DynamicQuantize> dynamic_quantize_cuda;

}  // namespace ingot
