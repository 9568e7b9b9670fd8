#include "kernels/state/causal_conv1d.h"

#include "kernels/contract/describe.h"
#include "kernels/state/causal_conv1d_cases.h"

namespace ingot {
namespace {

// What the forward and the backward read alike. Gives the state's shape.
template <class Op>
Result<Shape> check_convolution(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 3));
  TRY(require_rank(Op::name, "C2", "weights", a.weights, 2));
  const std::int64_t channels = a.x.size(1);
  const std::int64_t taps = a.weights.size(1);
  TRY(require_shape(Op::name, "C2", "weights", a.weights, {channels, taps}));
  if (taps < 1) return violated(Op::name, "C2", "expected weights with 1 tap or more, found ", a.weights.shape());
  if (is_present(a.bias)) TRY(require_shape(Op::name, "C3", "bias", a.bias, {channels}));
  const Shape state = {a.x.size(0), channels, taps - 1};
  if (is_present(a.initial_state)) TRY(require_shape(Op::name, "C4", "initial_state", a.initial_state, state));
  if (a.activation != ConvolutionActivation::none && a.activation != ConvolutionActivation::silu) {
    return violated(Op::name, "C6", "expected activation none (0) or silu (1), found ", static_cast<int>(a.activation));
  }
  return state;
}

// Neighbours in time, or neighbouring channels, lie side by side in both x and y.
bool fits_vectors(const CausalConv1d::Arguments& a) {
  const bool along_time = a.x.stride(2) == 1 && a.y.stride(2) == 1;
  const bool along_channels = a.x.stride(1) == 1 && a.y.stride(1) == 1;
  return (along_time || along_channels) && a.weights.size(1) <= causal_conv1d_most_taps;
}

}  // namespace

Result<void> CausalConv1d::check(const Arguments& a) {
  const Shape state = TRY(check_convolution<CausalConv1d>(a));
  TRY(require_shape(name, "C4", "final_state", a.final_state, state));
  TRY(require_shape(name, "C5", "y", a.y, a.x.shape()));
  return {};
}

Cost CausalConv1d::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const auto state = static_cast<double>(a.final_state.count());
  return {.operations = 2 * count * static_cast<double>(a.weights.size(1)),
          .bytes_read = 4 * (count + state + static_cast<double>(a.weights.count())),
          .bytes_written = 4 * (count + state)};
}

Tolerance CausalConv1d::tolerance(const Arguments&) {
  return {.epsilons = 8,
          .scale = ErrorScale::tensor,
          .reason = "a float sum of K products that may cancel, and the 4 epsilons of silu"};
}

std::span<const Variant<CausalConv1d>> CausalConv1d::variants() {
  static const Variant<CausalConv1d> table[] = {
      causal_conv1d_cuda,
      INGOT_SIMD_ROWS(causal_conv1d_simd, fits_vectors),
      {"reference", {}, causal_conv1d_reference},
  };
  return table;
}

Result<void> CausalConv1dBackward::check(const Arguments& a) {
  const Shape state = TRY(check_convolution<CausalConv1dBackward>(a));
  TRY(require_shape(name, "C5", "dy", a.dy, a.x.shape()));
  TRY(require_shape(name, "C5", "dx", a.dx, a.x.shape()));
  TRY(require_shape(name, "C5", "dweights", a.dweights, a.weights.shape()));
  if (is_present(a.dbias)) TRY(require_shape(name, "C5", "dbias", a.dbias, {a.x.size(1)}));
  if (is_present(a.dfinal_state)) TRY(require_shape(name, "C5", "dfinal_state", a.dfinal_state, state));
  if (is_present(a.dinitial_state)) TRY(require_shape(name, "C5", "dinitial_state", a.dinitial_state, state));
  return {};
}

Cost CausalConv1dBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 6 * count * static_cast<double>(a.weights.size(1)),
          .bytes_read = 4 * 2 * count,
          .bytes_written = 4 * count};
}

Tolerance CausalConv1dBackward::tolerance(const Arguments&) {
  return {.epsilons = 64,
          .scale = ErrorScale::tensor,
          .reason = "dweights sums over batch and time, and its terms may cancel"};
}

std::span<const Variant<CausalConv1dBackward>> CausalConv1dBackward::variants() {
  static const Variant<CausalConv1dBackward> table[] = {
      {"reference", {}, causal_conv1d_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<CausalConv1d>();
template const Operation& describe_operation<CausalConv1dBackward>();

}  // namespace ingot
