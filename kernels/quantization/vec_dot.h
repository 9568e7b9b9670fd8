// Rows of a block format times a vector of 8-bit activations: the smallest unit of a quantized matrix product.
//
//   y[r] = sum_b scales[b] sum_{g in b} ( w_scale[r,g] sum_{i in g} w_code[r,i] codes[i] - w_minimum[r,g] sums[g] )
//
// b are blocks as long as the format's, g groups of 16 elements (see tensor/block_codes.h). The integer sums are exact;
// the rest is float arithmetic. A row with a weight scale that is not finite gives infinity or NaN.
//
// C1  weights has shape [R, n], a block format, and packed rows
// C2  codes has shape [n] and is packed
// C3  scales has shape [n / block] and is packed
// C4  sums has shape [n / 16] and is packed; it is required where the format has minimums
// C5  y has shape [R] and is packed
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct VecDot {
  static constexpr std::string_view name = "quantization.vec_dot";
  static constexpr std::string_view equation =
      "y[r] = sum_b scales[b] sum_g (w_scale[r,g] sum_i w_code[r,i] codes[i] - w_minimum[r,g] sums[g])";
  static constexpr Backward backward = Backward::none("codes are integers: there is nothing to differentiate by");

  struct Arguments {
    ConstAnyView weights;
    View<const std::int8_t> codes;
    View<const float> scales;
    View<const std::int32_t> sums;
    View<float> y;

    static constexpr auto fields() {
      return field_list(weight(&Arguments::weights, "weights"), input(&Arguments::codes, "codes"),
                        input(&Arguments::scales, "scales"), optional_input(&Arguments::sums, "sums"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<VecDot>> variants();
  static void cases(CaseList<VecDot>& list);
};

void vec_dot_reference(const VecDot::Arguments& arguments, Context& context);
extern const SimdEntries<VecDot> vec_dot_simd;
extern const Variant<VecDot> vec_dot_cuda;

}  // namespace ingot
