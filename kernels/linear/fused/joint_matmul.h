// Two or three projections of one x, as an attention layer's queries, keys and values are: x is encoded once, and one
// fork-join hands out the columns of all.
//
//   first[m,n]  = sum_k x[m,k] A[n,k] + a[n]
//   second[m,n] = sum_k x[m,k] B[n,k] + b[n]
//   third[m,n]  = sum_k x[m,k] C[n,k] + c[n]
//
// Each is the product of linear.matmul, rounding of x to codes included, with weights of a type and a number of columns
// of its own.
//
// C1  x has shape [M, K] and packed rows; or it is left out, codes has that shape, scales [M, K / block] and sums
//     [M, K / 16], with packed rows, and all weights are block formats of that block
// C2  each weights has shape [N, K], an N of its own, type f32, f16, bf16 or a block format, and packed rows; or layout
//     is another, and each is as linear.matmul wants it then
// C3  each bias, where given, has its weights' shape [N] and is packed
// C4  first, second and third have shape [M, N] of their weights and packed rows
// C5  third, third_weights and third_bias are left out together, or third and third_weights are both given
#pragma once

#include "kernels/linear/fused/fused_products.h"

namespace ingot {

struct JointMatmul {
  static constexpr std::string_view name = "linear.joint_matmul";
  static constexpr std::string_view equation = "first = x A^T + a, second = x B^T + b, third = x C^T + c";
  static constexpr Backward backward = Backward::none("a plan makes it for inference; its parts have theirs");

  struct Arguments : ProductInput {
    ConstAnyView first_weights;
    ConstAnyView second_weights;
    ConstAnyView third_weights;
    View<const float> first_bias;
    View<const float> second_bias;
    View<const float> third_bias;
    View<float> first;
    View<float> second;
    View<float> third;

    static constexpr auto fields() {
      return std::tuple_cat(
          ProductInput::fields(),
          field_list(weight(&Arguments::first_weights, "first_weights"),
                     weight(&Arguments::second_weights, "second_weights"),
                     optional_weight(&Arguments::third_weights, "third_weights"),
                     optional_weight(&Arguments::first_bias, "first_bias"),
                     optional_weight(&Arguments::second_bias, "second_bias"),
                     optional_weight(&Arguments::third_bias, "third_bias"), output(&Arguments::first, "first"),
                     output(&Arguments::second, "second"), optional_output(&Arguments::third, "third")));
    }
  };

  static FusedProducts products(const Arguments& arguments);
  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments) { return fused_cost(products(arguments)); }
  static Tolerance tolerance(const Arguments& arguments) { return fused_tolerance(products(arguments)); }
  static std::span<const Variant<JointMatmul>> variants() { return fused_variants<JointMatmul>(); }
  static void cases(CaseList<JointMatmul>& list);
};

}  // namespace ingot
