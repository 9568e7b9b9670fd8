// The gated half of a feed-forward layer: two projections of x, one of which scales the other through a curve.
//
//   y[m,n] = f(sum_k x[m,k] G[n,k] + g[n]) (sum_k x[m,k] U[n,k] + u[n])
//
// Products are those of linear.matmul, rounding of x to codes included; f is silu, gelu, gelu by tanh, or relu, as
// kernels/activation defines them. The reference is the composition of both.
//
// C1  x has shape [M, K] and packed rows; or it is left out, codes has that shape, scales [M, K / block] and sums
//     [M, K / 16], with packed rows, and all weights are block formats of that block
// C2  gate_weights and up_weights have shape [N, K], type f32, f16, bf16 or a block format, and packed rows; or layout
//     is another, and both are as linear.matmul wants them then
// C3  gate_bias and up_bias, where given, have shape [N] and are packed
// C4  curve is silu (0), gelu (1), gelu_tanh (2) or relu (3)
// C5  y has shape [M, N] and packed rows
#pragma once

#include "kernels/linear/fused/fused_products.h"

namespace ingot {

struct GatedMatmul {
  static constexpr std::string_view name = "linear.gated_matmul";
  static constexpr std::string_view equation = "y = f(x G^T + g) (x U^T + u)";
  static constexpr Backward backward = Backward::none("a plan makes it for inference; its parts have theirs");

  struct Arguments : ProductInput {
    ConstAnyView gate_weights;
    ConstAnyView up_weights;
    View<const float> gate_bias;
    View<const float> up_bias;
    FusedCurve curve = FusedCurve::silu;
    View<float> y;

    static constexpr auto fields() {
      return std::tuple_cat(
          ProductInput::fields(),
          field_list(weight(&Arguments::gate_weights, "gate_weights"), weight(&Arguments::up_weights, "up_weights"),
                     optional_weight(&Arguments::gate_bias, "gate_bias"),
                     optional_weight(&Arguments::up_bias, "up_bias"), attribute(&Arguments::curve, "curve"),
                     output(&Arguments::y, "y")));
    }
  };

  static FusedProducts products(const Arguments& arguments);
  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments) { return fused_cost(products(arguments)); }
  static Tolerance tolerance(const Arguments& arguments) { return fused_tolerance(products(arguments)); }
  static std::span<const Variant<GatedMatmul>> variants() { return fused_variants<GatedMatmul>(); }
  static void cases(CaseList<GatedMatmul>& list);
};

}  // namespace ingot
