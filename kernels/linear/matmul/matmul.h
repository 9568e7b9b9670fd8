// A matrix product with a stored weight matrix: every projection of a model.
//
//   y[m,n] = sum_k x[m,k] W[n,k] + bias[n]
//
// Weights may be f32, f16, bf16 or any block format. Where they are a block format, activations are first put on a grid
// of 8-bit codes, and that rounding is part of the contract, so that all variants agree on the integers:
//
//   scale[m,b] = max_{k in b} |x[m,k]| / 127,  code[m,k] = round half to even(x[m,k] * (127 / max))
//   y[m,n]     = sum_b scale[m,b] sum_{k in b} code[m,k] W[n,k] + bias[n]
//
// with blocks b of 32 elements (256 or 64 where the weights' blocks have as many), as vector/activation_codes.h defines
// to the bit: a block of activations that holds a value which is not finite makes its whole row of y NaN.
//
// Where weights are bf16, activations are rounded to bf16 as well (to nearest, ties to even; NaN stays NaN), and that
// is part of the contract too: instructions that multiply pairs of bf16 numbers sum exact products. They take numbers
// below the normal range for zero, which the tolerance allows for.
//
// Where weights are f16, so are activations, each row at a scale of its own, because they may pass a half's range:
//
//   x[m,k] becomes half(2^e[m] x[m,k]) 2^-e[m],  2^14 <= 2^e[m] max_k |x[m,k]| < 2^15
//
// (to nearest, ties to even, gradual below 2^-14; NaN and infinities stay what they are and do not count for the
// maximum; e is 0 where that is 0, and between -126 and 126). Sums stay f32: what is lost is below 2^-11 of each number
// and below 2^-39 of the row's largest.
//
// Codes may be given in the place of x, as norms that know who reads them make them (norm.coded_rms_norm): y is as
// above, of the scales and codes that are given. sums are those of each 16 codes, for weights that have a minimum or a
// zero.
//
// C1  x has shape [M, K] and packed rows; or it is left out, codes has that shape, scales [M, K / block] and sums
//     [M, K / 16], with packed rows, and weights is a block format of that block
// C2  weights has shape [N, K], type f32, f16, bf16 or a block format, and packed rows
// C3  layout is rows, or one that linear.pack makes: then weights is of a type and shape that it takes for that layout,
//     and contiguous
// C4  bias, where given, has shape [N] and is packed
// C5  y has shape [M, N] and packed rows
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/linear/product_input.h"

namespace ingot {

struct Matmul {
  static constexpr std::string_view name = "linear.matmul";
  static constexpr std::string_view equation = "y[m,n] = sum_k x[m,k] W[n,k] + bias[n]";
  static constexpr Backward backward =
      Backward::by("linear.matmul_backward_input", "linear.matmul_backward_weight", "linear.matmul_backward_bias");

  struct Arguments : ProductInput {
    ConstAnyView weights;
    View<const float> bias;
    View<float> y;

    static constexpr auto fields() {
      return std::tuple_cat(ProductInput::fields(),
                            field_list(weight(&Arguments::weights, "weights"),
                                       optional_weight(&Arguments::bias, "bias"), output(&Arguments::y, "y")));
    }

    // One product as ways of multiplying take it.
    static Arguments of(const ProductInput& input, const ConstAnyView& weights, const View<const float>& bias,
                        const View<float>& y) {
      Arguments product{input, weights, bias, y};
      product.x = input.shaped_x();
      return product;
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Matmul>> variants();
  static void cases(CaseList<Matmul>& list);
};

void matmul_reference(const Matmul::Arguments& arguments, Context& context);
void matmul_blocked(const Matmul::Arguments& arguments, Context& context);

}  // namespace ingot
