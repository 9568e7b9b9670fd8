// A block format back into numbers.
//
//   y[r,i] = scale[r,g] code[r,i] - minimum[r,g]      g: the group of element i
//
// in float, each operation rounded, which is what the formats define (see tensor/block_codes.h): exact to the bit.
//
// C1  blocks has rank 1 to 6, a block format, and a last axis of whole blocks
// C2  y has the shape of blocks
// C3  the last axes of blocks and y are packed; rows may lie anywhere
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Dequantize {
  static constexpr std::string_view name = "quantization.dequantize";
  static constexpr std::string_view equation = "y[r,i] = scale[r,g(i)] code[r,i] - minimum[r,g(i)]";
  static constexpr Backward backward = Backward::none("codes are integers: there is nothing to differentiate by");

  struct Arguments {
    ConstAnyView blocks;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::blocks, "blocks"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Dequantize>> variants();
  static void cases(CaseList<Dequantize>& list);
};

void dequantize_reference(const Dequantize::Arguments& arguments, Context& context);
extern const SimdEntries<Dequantize> dequantize_simd;
extern const Variant<Dequantize> dequantize_cuda;

}  // namespace ingot
