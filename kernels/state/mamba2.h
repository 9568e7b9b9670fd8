// Mamba 2 (state-space duality): as the selective scan, with one decay a head of P channels, so that a head's memory is
// a [P, N] matrix that decays as a whole.
//
//   h_t[p,n] = e^(delta_t A) h_{t-1}[p,n] + delta_t x_t[p] B_t[n]          per head; h_0 = initial_state, or zeros
//   y_t[p]   = sum_n C_t[n] h_t[p,n] + D x_t[p]
//
// with A the transition, B the input projection, C the output projection and D the skip. Head h reads group h / (H / G)
// of the projections. Steps come as they are: softplus and gate are contracts of their own.
//
// C1  x has shape [B, T, H, P] with H, P >= 1
// C2  delta has shape [B, T, H]
// C3  transition, and skip where given, have shape [H]
// C4  input_projection and output_projection have shape [B, T, G, N], with G >= 1 dividing H and N >= 1
// C5  y has x's shape
// C6  initial_state (where given) and final_state have shape [B, H, P, N]
// C7  the last axes of the projections and of the states are packed
// In place: final_state may be initial_state, so that decoding updates one buffer.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Mamba2 {
  static constexpr std::string_view name = "state.mamba2";
  static constexpr std::string_view equation =
      "h[p,n] = e^(delta A) h[p,n] + delta x[p] B[n], y[p] = sum_n C[n] h[p,n] + D x[p]";
  static constexpr Backward backward = Backward::by("state.mamba2_backward");
  static constexpr std::array in_place = {InPlace{"final_state", "initial_state"}};

  struct Arguments {
    View<const float> x;
    View<const float> delta;
    View<const float> transition;
    View<const float> input_projection;
    View<const float> output_projection;
    View<const float> skip;
    View<const float> initial_state;
    View<float> y;
    View<float> final_state;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::x, "x"), input(&Arguments::delta, "delta"), weight(&Arguments::transition, "transition"),
          input(&Arguments::input_projection, "input_projection"),
          input(&Arguments::output_projection, "output_projection"), optional_weight(&Arguments::skip, "skip"),
          optional_input(&Arguments::initial_state, "initial_state"), output(&Arguments::y, "y"),
          output(&Arguments::final_state, "final_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Mamba2>> variants();
  static void cases(CaseList<Mamba2>& list);
};

void mamba2_reference(const Mamba2::Arguments& arguments, Context& context);
extern const Variant<Mamba2> mamba2_cuda;
extern const SimdEntries<Mamba2> mamba2_simd;

// Its backward, in reverse with g = dL/dh_t, starting from dfinal_state (zeros where there is none), a = e^(delta A):
//
//   g[p,n] += C_t[n] dy_t[p]       dC_t[n] = sum_p dy_t[p] h_t[p,n]        dD = sum_btp dy x
//   dx_t[p] = D dy_t[p] + delta_t sum_n g[p,n] B_t[n]                      dB_t[n] = sum_p g[p,n] delta_t x_t[p]
//   ddelta_t = sum_pn g (A a h_{t-1} + x_t[p] B_t[n])                      dA = sum_btpn g delta_t a h_{t-1}
//   g = a g, and what is left at t = 0 is dinitial_state
//
// Projections shared by heads receive the sum over them.
//
// C1 to C4, C6, C7 as above
// C5  dy has x's shape; each gradient has the shape of what it is the gradient of
struct Mamba2Backward {
  static constexpr std::string_view name = "state.mamba2_backward";
  static constexpr std::string_view equation =
      "g += C dy, dx = D dy + delta g B, ddelta = sum g (A a h + x B), dA = sum g delta a h, g = a g, in reverse";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> delta;
    View<const float> transition;
    View<const float> input_projection;
    View<const float> output_projection;
    View<const float> skip;
    View<const float> initial_state;
    View<const float> dy;
    View<const float> dfinal_state;
    View<float> dx;
    View<float> ddelta;
    View<float> dtransition;
    View<float> dinput_projection;
    View<float> doutput_projection;
    View<float> dskip;
    View<float> dinitial_state;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::x, "x"), input(&Arguments::delta, "delta"), weight(&Arguments::transition, "transition"),
          input(&Arguments::input_projection, "input_projection"),
          input(&Arguments::output_projection, "output_projection"), optional_weight(&Arguments::skip, "skip"),
          optional_input(&Arguments::initial_state, "initial_state"), input(&Arguments::dy, "dy"),
          optional_input(&Arguments::dfinal_state, "dfinal_state"), output(&Arguments::dx, "dx"),
          output(&Arguments::ddelta, "ddelta"), output(&Arguments::dtransition, "dtransition"),
          output(&Arguments::dinput_projection, "dinput_projection"),
          output(&Arguments::doutput_projection, "doutput_projection"), optional_output(&Arguments::dskip, "dskip"),
          optional_output(&Arguments::dinitial_state, "dinitial_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Mamba2Backward>> variants();
  static void cases(CaseList<Mamba2Backward>& list);
};

void mamba2_backward_reference(const Mamba2Backward::Arguments& arguments, Context& context);

}  // namespace ingot
