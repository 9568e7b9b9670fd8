// The three derivatives of linear.matmul. Each is its own operation: a frozen weight needs no dweights, the first layer
// no dx.
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/linear/weights.h"

namespace ingot {

//   dx[m,k] = sum_n dy[m,n] W[n,k]
//
// Through a block format the decoded weights are used, and the rounding of activations (there and for bf16 and f16
// weights) counts as the identity (straight-through): W is what the forward multiplies with.
//
// C1  dy has shape [M, N] and packed rows
// C2  weights has shape [N, K], type f32, f16, bf16 or a block format, and packed rows
// C3  layout is rows
// C4  dx has shape [M, K] and packed rows
struct MatmulBackwardInput {
  static constexpr std::string_view name = "linear.matmul_backward_input";
  static constexpr std::string_view equation = "dx[m,k] = sum_n dy[m,n] W[n,k]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    ConstAnyView weights;
    WeightLayout layout = WeightLayout::rows;
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(weight(&Arguments::weights, "weights"), attribute(&Arguments::layout, "layout"),
                        input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulBackwardInput>> variants();
  static void cases(CaseList<MatmulBackwardInput>& list);
};

//   dW[n,k] = sum_m dy[m,n] x[m,k]
//
// C1  x has shape [M, K] and packed rows
// C2  dy has shape [M, N] and packed rows
// C3  dweights has shape [N, K] and packed rows
struct MatmulBackwardWeight {
  static constexpr std::string_view name = "linear.matmul_backward_weight";
  static constexpr std::string_view equation = "dW[n,k] = sum_m dy[m,n] x[m,k]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> dy;
    View<float> dweights;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dweights, "dweights"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulBackwardWeight>> variants();
  static void cases(CaseList<MatmulBackwardWeight>& list);
};

//   dbias[n] = sum_m dy[m,n]
//
// C1  dy has shape [M, N] and packed rows
// C2  dbias has shape [N] and is packed
struct MatmulBackwardBias {
  static constexpr std::string_view name = "linear.matmul_backward_bias";
  static constexpr std::string_view equation = "dbias[n] = sum_m dy[m,n]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> dy;
    View<float> dbias;

    static constexpr auto fields() {
      return field_list(input(&Arguments::dy, "dy"), output(&Arguments::dbias, "dbias"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulBackwardBias>> variants();
  static void cases(CaseList<MatmulBackwardBias>& list);
};

void matmul_backward_input_reference(const MatmulBackwardInput::Arguments& arguments, Context& context);
void matmul_backward_weight_reference(const MatmulBackwardWeight::Arguments& arguments, Context& context);
void matmul_backward_bias_reference(const MatmulBackwardBias::Arguments& arguments, Context& context);
extern const SimdEntries<MatmulBackwardBias> matmul_backward_bias_simd;

}  // namespace ingot
