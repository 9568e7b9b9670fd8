// A projection and the curve behind it: the first half of a feed-forward layer without a gate.
//
//   y[m,n] = f(sum_k x[m,k] W[n,k] + bias[n])
//
// The product is that of linear.matmul, rounding of x to codes included; f is silu, gelu, gelu by tanh, or relu, as
// kernels/activation defines them. The reference is the composition of both.
//
// C1  x has shape [M, K] and packed rows; or it is left out, codes has that shape, scales [M, K / block] and sums
//     [M, K / 16], with packed rows, and all weights are block formats of that block
// C2  weights has shape [N, K], type f32, f16, bf16 or a block format, and packed rows; or layout is another, and it
//     is as linear.matmul wants it then
// C3  bias, where given, has shape [N] and is packed
// C4  curve is silu (0), gelu (1), gelu_tanh (2) or relu (3)
// C5  y has shape [M, N] and packed rows
#pragma once

#include "kernels/linear/fused/fused_products.h"

namespace ingot {

struct ActivatedMatmul {
  static constexpr std::string_view name = "linear.activated_matmul";
  static constexpr std::string_view equation = "y = f(x W^T + bias)";
  static constexpr Backward backward = Backward::none("a plan makes it for inference; its parts have theirs");

  struct Arguments : ProductInput {
    ConstAnyView weights;
    View<const float> bias;
    FusedCurve curve = FusedCurve::silu;
    View<float> y;

    static constexpr auto fields() {
      return std::tuple_cat(
          ProductInput::fields(),
          field_list(weight(&Arguments::weights, "weights"), optional_weight(&Arguments::bias, "bias"),
                     attribute(&Arguments::curve, "curve"), output(&Arguments::y, "y")));
    }
  };

  static FusedProducts products(const Arguments& arguments);
  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments) { return fused_cost(products(arguments)); }
  static Tolerance tolerance(const Arguments& arguments) { return fused_tolerance(products(arguments)); }
  static std::span<const Variant<ActivatedMatmul>> variants() { return fused_variants<ActivatedMatmul>(); }
  static void cases(CaseList<ActivatedMatmul>& list);
};

}  // namespace ingot
