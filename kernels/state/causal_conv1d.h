// Depthwise causal convolution over time, with the last K-1 inputs carried from call to call.
//
//   s[b,c] = initial_state[b,c,0..K-2] followed by x[b,c,0..T-1]          (zeros where there is no initial state)
//   u[b,c,t] = bias[c] + sum_j weights[c,j] s[b,c,t+j]
//   y = u, or silu(u) = u / (1 + e^-u)
//   final_state[b,c] = the last K-1 elements of s[b,c]
//
// C1  x has shape [B, C, T]
// C2  weights has shape [C, K] with K >= 1
// C3  bias, where given, has shape [C]
// C4  initial_state (where given) and final_state have shape [B, C, K-1]
// C5  y has x's shape
// C6  activation is one of the enumerators
// Strides are free: time-major and channel-major activations are both views of this shape.
// In place: final_state may be initial_state, so that decoding updates one buffer.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

enum class ConvolutionActivation : std::uint8_t { none, silu };

struct CausalConv1d {
  static constexpr std::string_view name = "state.causal_conv1d";
  static constexpr std::string_view equation =
      "y[b,c,t] = f(bias[c] + sum_j weights[c,j] s[b,c,t+j]), s = [initial_state, x], f in {identity, silu}";
  static constexpr Backward backward = Backward::by("state.causal_conv1d_backward");
  static constexpr std::array in_place = {InPlace{"final_state", "initial_state"}};

  struct Arguments {
    View<const float> x;
    View<const float> weights;
    View<const float> bias;
    View<const float> initial_state;
    ConvolutionActivation activation = ConvolutionActivation::none;
    View<float> y;
    View<float> final_state;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::x, "x"), weight(&Arguments::weights, "weights"), optional_weight(&Arguments::bias, "bias"),
          optional_input(&Arguments::initial_state, "initial_state"), attribute(&Arguments::activation, "activation"),
          output(&Arguments::y, "y"), output(&Arguments::final_state, "final_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CausalConv1d>> variants();
  static void cases(CaseList<CausalConv1d>& list);
};

void causal_conv1d_reference(const CausalConv1d::Arguments& arguments, Context& context);
extern const Variant<CausalConv1d> causal_conv1d_cuda;
extern const SimdEntries<CausalConv1d> causal_conv1d_simd;

// The vector variants keep a channel's weights on the stack. Models use K = 4.
inline constexpr std::int64_t causal_conv1d_most_taps = 16;

// Its backward. u is computed again: it costs K multiply-adds, less than reading it from memory.
//
//   du = dy f'(u);   ds[b,c,t+j] = sum_j weights[c,j] du[b,c,t], plus dfinal_state on its last K-1 elements
//   dinitial_state, dx = the parts of ds;   dweights[c,j] = sum_bt du[b,c,t] s[b,c,t+j];   dbias[c] = sum_bt du[b,c,t]
//
// C1 to C4, C6 as above
// C5  dy and dx have x's shape, dweights that of weights; dbias, dfinal_state and dinitial_state, where given, those of
//     bias and of the state
struct CausalConv1dBackward {
  static constexpr std::string_view name = "state.causal_conv1d_backward";
  static constexpr std::string_view equation =
      "ds = weights (*) dy f'(u) + dfinal_state, dweights[c,j] = sum_bt dy f'(u) s[b,c,t+j], dbias[c] = sum_bt dy "
      "f'(u)";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> weights;
    View<const float> bias;
    View<const float> initial_state;
    ConvolutionActivation activation = ConvolutionActivation::none;
    View<const float> dy;
    View<const float> dfinal_state;
    View<float> dx;
    View<float> dweights;
    View<float> dbias;
    View<float> dinitial_state;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::x, "x"), weight(&Arguments::weights, "weights"), optional_weight(&Arguments::bias, "bias"),
          optional_input(&Arguments::initial_state, "initial_state"), attribute(&Arguments::activation, "activation"),
          input(&Arguments::dy, "dy"), optional_input(&Arguments::dfinal_state, "dfinal_state"),
          output(&Arguments::dx, "dx"), output(&Arguments::dweights, "dweights"),
          optional_output(&Arguments::dbias, "dbias"), optional_output(&Arguments::dinitial_state, "dinitial_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CausalConv1dBackward>> variants();
  static void cases(CaseList<CausalConv1dBackward>& list);
};

void causal_conv1d_backward_reference(const CausalConv1dBackward::Arguments& arguments, Context& context);

}  // namespace ingot
