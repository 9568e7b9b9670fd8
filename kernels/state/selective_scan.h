// Selective scan (Mamba): each of E channels drives N decaying memories, with step sizes and projections that depend on
// the input.
//
//   h_t[e,n] = e^(delta_t[e] A[e,n]) h_{t-1}[e,n] + delta_t[e] B_t[n] x_t[e]          h_0 = initial_state, or zeros
//   y_t[e]   = sum_n C_t[n] h_t[e,n] + D[e] x_t[e]
//
// with A the transition, B the input projection, C the output projection and D the skip. Steps come as they are: the
// softplus that makes them positive and the gate that multiplies y are contracts of their own.
//
// C1  x and delta have shape [B, T, E]
// C2  transition has shape [E, N] with N >= 1
// C3  input_projection and output_projection have shape [B, T, N]
// C4  skip, where given, has shape [E]
// C5  y has x's shape
// C6  initial_state (where given) and final_state have shape [B, E, N]
// C7  the last axes of all but the skip are packed
// In place: final_state may be initial_state, so that decoding updates one buffer.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct SelectiveScan {
  static constexpr std::string_view name = "state.selective_scan";
  static constexpr std::string_view equation =
      "h[e,n] = e^(delta[e] A[e,n]) h[e,n] + delta[e] B[n] x[e], y[e] = sum_n C[n] h[e,n] + D[e] x[e]";
  static constexpr Backward backward = Backward::by("state.selective_scan_backward");
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
  static std::span<const Variant<SelectiveScan>> variants();
  static void cases(CaseList<SelectiveScan>& list);
};

void selective_scan_reference(const SelectiveScan::Arguments& arguments, Context& context);
extern const Variant<SelectiveScan> selective_scan_cuda;
extern const SimdEntries<SelectiveScan> selective_scan_simd;

// The vector variants keep the memories of a few channels on the stack. Mamba uses N = 16.
inline constexpr std::int64_t selective_scan_most_memories = 128;

// Its backward, the scan in reverse with g = dL/dh_t, starting from dfinal_state (zeros where there is none), and
// a = e^(delta A):
//
//   g += C_t dy_t          dC_t[n] = sum_e dy_t[e] h_t[e,n]         dD[e] = sum_bt dy x
//   dx_t[e] = D[e] dy_t[e] + delta_t[e] sum_n g B_t[n]              dB_t[n] = sum_e g delta_t[e] x_t[e]
//   ddelta_t[e] = sum_n g (A a h_{t-1} + B_t[n] x_t[e])             dA[e,n] = sum_bt g delta_t[e] a h_{t-1}
//   g = a g, and what is left at t = 0 is dinitial_state
//
// C1 to C4, C6, C7 as above
// C5  dy has x's shape; each gradient has the shape of what it is the gradient of
struct SelectiveScanBackward {
  static constexpr std::string_view name = "state.selective_scan_backward";
  static constexpr std::string_view equation =
      "g += C dy, dx = D dy + delta sum_n g B, ddelta = sum_n g (A a h + B x), dA = sum g delta a h, g = a g, in "
      "reverse";
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
  static std::span<const Variant<SelectiveScanBackward>> variants();
  static void cases(CaseList<SelectiveScanBackward>& list);
};

void selective_scan_backward_reference(const SelectiveScanBackward::Arguments& arguments, Context& context);

}  // namespace ingot
