// Numbers into a block format.
//
//   blocks[r] = encode(x[r])
//
// The rounding is the format's (see tensor/block_codec.h) and the same to the bit in every variant.
//
// C1  x has rank 1 to 6
// C2  blocks has x's shape, a block format that has an encoder, and a last axis of whole blocks
// C3  the last axes of x and blocks are packed; rows may lie anywhere
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Quantize {
  static constexpr std::string_view name = "quantization.quantize";
  static constexpr std::string_view equation = "blocks[r] = encode(x[r])";
  static constexpr Backward backward = Backward::none("a step function: its derivative is zero almost everywhere");

  struct Arguments {
    View<const float> x;
    AnyView blocks;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), output(&Arguments::blocks, "blocks"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Quantize>> variants();
  static void cases(CaseList<Quantize>& list);
};

void quantize_reference(const Quantize::Arguments& arguments, Context& context);
void quantize_threads(const Quantize::Arguments& arguments, Context& context);  // the reference's encoder, by rows
bool quantize_simd_accepts(const Quantize::Arguments& arguments);
extern const SimdEntries<Quantize> quantize_simd;
extern const Variant<Quantize> quantize_cuda;

}  // namespace ingot
