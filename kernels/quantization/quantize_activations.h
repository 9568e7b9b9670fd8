// Activations into 8-bit codes with a float scale a block, and the sums of the codes that formats with minimums need.
//
//   scale[r,b] = max_{i in b} |x[r,i]| / 127
//   codes[r,i] = round half to even(x[r,i] (127 / max))
//   sums[r,g]  = sum_{i in g} codes[r,i]                    g: groups of 16 elements
//
// kernels/vector/activation_codes.h is the definition to the bit, zeros and what is not finite included.
//
// C1  block is 32 or 256
// C2  x has rank 1 to 6 and a last axis of n elements, a multiple of block
// C3  codes has x's shape
// C4  scales has x's shape with a last axis of n / block
// C5  sums, where given, has x's shape with a last axis of n / 16
// C6  all last axes are packed; rows may lie anywhere
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct QuantizeActivations {
  static constexpr std::string_view name = "quantization.quantize_activations";
  static constexpr std::string_view equation =
      "codes[r,i] = round(x[r,i] 127 / max_b|x|), scales[r,b] = max_b|x| / 127, sums[r,g] = sum_g codes[r,i]";
  static constexpr Backward backward = Backward::none("a step function: its derivative is zero almost everywhere");

  struct Arguments {
    View<const float> x;
    std::int32_t block = 32;
    View<std::int8_t> codes;
    View<float> scales;
    View<std::int32_t> sums;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::block, "block"),
                        output(&Arguments::codes, "codes"), output(&Arguments::scales, "scales"),
                        optional_output(&Arguments::sums, "sums"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<QuantizeActivations>> variants();
  static void cases(CaseList<QuantizeActivations>& list);
};

void quantize_activations_reference(const QuantizeActivations::Arguments& arguments, Context& context);
extern const SimdEntries<QuantizeActivations> quantize_activations_simd;
extern const Variant<QuantizeActivations> quantize_activations_cuda;

}  // namespace ingot
