// The RMS norm in front of products with weights in a block format, and with it the residual connection: what comes out
// is y as 8-bit codes, as those products would make of it, and y itself is never written.
//
//   sum[r,i]    = x[r,i] + residual[r,i]                              x itself where there is no residual
//   rstd[r]     = 1 / sqrt( (1/D) sum_i sum[r,i]^2 + epsilon )
//   y[r,i]      = gamma[i] * sum[r,i] * rstd[r]
//   scales[r,b] = max_{i in b} |y[r,i]| / 127
//   codes[r,i]  = round half to even(y[r,i] (127 / max))
//   sums[r,g]   = sum_{i in g} codes[r,i]                             g: groups of 16 elements
//
// Codes are those of quantization.quantize_activations: kernels/vector/activation_codes.h is their definition to
// the bit, zeros and what is not finite included. The reference is the composition of the norm and of that. A float y
// that is rounded otherwise may fall on the other side of a code, so codes may be one off.
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements, a multiple of block; rows may lie anywhere
// C2  block is 32 or 256
// C3  gamma has shape [D], packed
// C4  residual and sum are left out together, or both have x's shape and packed last axes
// C5  codes has x's shape, scales and sums x's with a last axis of D / block and D / 16; their last axes are packed
// C6  epsilon is finite and not negative
// In place: sum may be x or residual.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct CodedRmsNorm {
  static constexpr std::string_view name = "norm.coded_rms_norm";
  static constexpr std::string_view equation =
      "sum = x + residual, y = gamma sum / sqrt(mean sum^2 + epsilon), codes = round(y 127 / max_b|y|)";
  static constexpr Backward backward = Backward::none("a plan makes it for inference; its parts have theirs");
  static constexpr std::array in_place = {InPlace{"sum", "x"}, InPlace{"sum", "residual"}};

  struct Arguments {
    View<const float> x;
    View<const float> residual;
    View<const float> gamma;
    float epsilon = 1e-5f;
    std::int32_t block = 32;
    View<float> sum;
    View<std::int8_t> codes;
    View<float> scales;
    View<std::int32_t> sums;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), optional_input(&Arguments::residual, "residual"),
                        weight(&Arguments::gamma, "gamma"), attribute(&Arguments::epsilon, "epsilon"),
                        attribute(&Arguments::block, "block"), optional_output(&Arguments::sum, "sum"),
                        output(&Arguments::codes, "codes"), output(&Arguments::scales, "scales"),
                        output(&Arguments::sums, "sums"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CodedRmsNorm>> variants();
  static void cases(CaseList<CodedRmsNorm>& list);
};

void coded_rms_norm_reference(const CodedRmsNorm::Arguments& arguments, Context& context);
extern const SimdEntries<CodedRmsNorm> coded_rms_norm_simd;
extern const Variant<CodedRmsNorm> coded_rms_norm_cuda;

}  // namespace ingot
