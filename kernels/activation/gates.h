// Gated activations: a curve of one half of a projection scales the other half.
//
//   y[...] = f(gate[...]) up[...]
//
// C1  up and y have gate's shape, of any rank
// C2  the last axes of gate, up and y are packed; rows may lie anywhere (the halves of one projection are two views)
// In place: y may be gate, or up.
#pragma once

#include "kernels/activation/gelu_curves.h"
#include "kernels/activation/rectifier_curves.h"

namespace ingot {

struct Swiglu {
  using Curve = Silu;
  static constexpr std::string_view name = "activation.swiglu";
  static constexpr std::string_view backward_name = "activation.swiglu_backward";
  static constexpr std::string_view equation = "y = silu(gate) up";
  static constexpr std::string_view backward_equation = "dgate = dy up silu'(gate), dup = dy silu(gate)";
};

struct Geglu {
  using Curve = Gelu;
  static constexpr std::string_view name = "activation.geglu";
  static constexpr std::string_view backward_name = "activation.geglu_backward";
  static constexpr std::string_view equation = "y = gelu(gate) up";
  static constexpr std::string_view backward_equation = "dgate = dy up gelu'(gate), dup = dy gelu(gate)";
};

struct GegluTanh {
  using Curve = GeluTanh;
  static constexpr std::string_view name = "activation.geglu_tanh";
  static constexpr std::string_view backward_name = "activation.geglu_tanh_backward";
  static constexpr std::string_view equation = "y = gelu_tanh(gate) up";
  static constexpr std::string_view backward_equation = "dgate = dy up gelu_tanh'(gate), dup = dy gelu_tanh(gate)";
};

struct Reglu {
  using Curve = Relu;
  static constexpr std::string_view name = "activation.reglu";
  static constexpr std::string_view backward_name = "activation.reglu_backward";
  static constexpr std::string_view equation = "y = relu(gate) up";
  static constexpr std::string_view backward_equation = "dgate = dy up relu'(gate), dup = dy relu(gate)";
};

template <class Gate_>
struct GatedActivation {
  using Gate = Gate_;
  static constexpr std::string_view name = Gate::name;
  static constexpr std::string_view equation = Gate::equation;
  static constexpr Backward backward = Backward::by(Gate::backward_name);
  static constexpr std::array in_place = {InPlace{"y", "gate"}, InPlace{"y", "up"}};

  struct Arguments {
    View<const float> gate;
    View<const float> up;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::gate, "gate"), input(&Arguments::up, "up"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& a);
  static Cost cost(const Arguments& a);
  static Tolerance tolerance(const Arguments& a);
  static std::span<const Variant<GatedActivation>> variants();
  static void cases(CaseList<GatedActivation>& list);
};

// Its backward:
//
//   dgate[...] = dy[...] up[...] f'(gate[...])
//   dup[...]   = dy[...] f(gate[...])
//
// C1  all tensors have gate's shape, of any rank
// C2  all last axes are packed; rows may lie anywhere
// In place: dgate may be gate, dup may be up.
template <class Gate_>
struct GatedActivationBackward {
  using Gate = Gate_;
  static constexpr std::string_view name = Gate::backward_name;
  static constexpr std::string_view equation = Gate::backward_equation;
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dgate", "gate"}, InPlace{"dup", "up"}};

  struct Arguments {
    View<const float> gate;
    View<const float> up;
    View<const float> dy;
    View<float> dgate;
    View<float> dup;

    static constexpr auto fields() {
      return field_list(input(&Arguments::gate, "gate"), input(&Arguments::up, "up"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dgate, "dgate"), output(&Arguments::dup, "dup"));
    }
  };

  static Result<void> check(const Arguments& a);
  static Cost cost(const Arguments& a);
  static Tolerance tolerance(const Arguments& a);
  static std::span<const Variant<GatedActivationBackward>> variants();
  static void cases(CaseList<GatedActivationBackward>& list);
};

// The vector variants of a gate; instantiated in gates_simd.cc.
template <class Gate>
SimdEntries<GatedActivation<Gate>> gate_entries();
template <class Gate>
SimdEntries<GatedActivationBackward<Gate>> gate_backward_entries();
// And its device row, instantiated in curves_cuda.cc.
template <class Gate>
Variant<GatedActivation<Gate>> gate_cuda();

}  // namespace ingot
