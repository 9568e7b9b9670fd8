// A matrix product whose rows are grouped by the experts of a mixture, each with a weight matrix of its own. Rows are
// sorted by expert; expert g has rows offsets[g] to offsets[g+1].
//
//   y[t,n] = sum_k x[t,k] W[g,n,k],  offsets[g] <= t < offsets[g+1]
//
// Without offsets every expert has as many rows: attention's heads, each with a matrix of its own. Its backward asks
// for offsets.
//
// Block formats round activations to 8-bit codes, bf16 weights to bf16 and f16 weights to halves, as in linear.matmul.
//
// C1  x has shape [T, K] and packed rows
// C2  weights has shape [G, N, K], type f32, f16, bf16 or a block format, and packed rows
// C3  layout is rows
// C4  offsets, where given, has shape [G + 1], starts at 0, never decreases and ends at T; else T is a multiple of G
// C5  y has shape [T, N] and packed rows
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/linear/weights.h"

namespace ingot {

struct MatmulGrouped {
  static constexpr std::string_view name = "linear.matmul_grouped";
  static constexpr std::string_view equation = "y[t,n] = sum_k x[t,k] W[g(t),n,k]";
  static constexpr Backward backward =
      Backward::by("linear.matmul_grouped_backward_input", "linear.matmul_grouped_backward_weight");

  struct Arguments {
    View<const float> x;
    ConstAnyView weights;
    WeightLayout layout = WeightLayout::rows;
    View<const std::int32_t> offsets;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::weights, "weights"),
                        attribute(&Arguments::layout, "layout"), optional_input(&Arguments::offsets, "offsets"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulGrouped>> variants();
  static void cases(CaseList<MatmulGrouped>& list);
};

//   dx[t,k] = sum_n dy[t,n] W[g(t),n,k]
//
// C1  dy has shape [T, N] and packed rows
// C2  weights has shape [G, N, K], type f32, f16, bf16 or a block format, and packed rows
// C3  layout is rows
// C4  offsets has shape [G + 1], starts at 0, never decreases and ends at T
// C5  dx has shape [T, K] and packed rows
struct MatmulGroupedBackwardInput {
  static constexpr std::string_view name = "linear.matmul_grouped_backward_input";
  static constexpr std::string_view equation = "dx[t,k] = sum_n dy[t,n] W[g(t),n,k]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    ConstAnyView weights;
    WeightLayout layout = WeightLayout::rows;
    View<const std::int32_t> offsets;
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(weight(&Arguments::weights, "weights"), attribute(&Arguments::layout, "layout"),
                        input(&Arguments::offsets, "offsets"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulGroupedBackwardInput>> variants();
  static void cases(CaseList<MatmulGroupedBackwardInput>& list);
};

//   dW[g,n,k] = sum_{t of expert g} dy[t,n] x[t,k]
//
// C1  x has shape [T, K] and packed rows
// C2  offsets has shape [G + 1], starts at 0, never decreases and ends at T
// C3  dy has shape [T, N] and packed rows
// C4  dweights has shape [G, N, K] and packed rows
struct MatmulGroupedBackwardWeight {
  static constexpr std::string_view name = "linear.matmul_grouped_backward_weight";
  static constexpr std::string_view equation = "dW[g,n,k] = sum_{t in g} dy[t,n] x[t,k]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const std::int32_t> offsets;
    View<const float> dy;
    View<float> dweights;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::offsets, "offsets"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dweights, "dweights"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulGroupedBackwardWeight>> variants();
  static void cases(CaseList<MatmulGroupedBackwardWeight>& list);
};

Variant<MatmulGrouped> matmul_grouped_cuda();
void matmul_grouped_reference(const MatmulGrouped::Arguments& arguments, Context& context);
void matmul_grouped_backward_input_reference(const MatmulGroupedBackwardInput::Arguments& arguments, Context& context);
void matmul_grouped_backward_weight_reference(const MatmulGroupedBackwardWeight::Arguments& arguments,
                                              Context& context);

}  // namespace ingot
