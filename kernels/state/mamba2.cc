#include "kernels/state/mamba2.h"

#include "kernels/contract/describe.h"
#include "kernels/state/mamba2_cases.h"

namespace ingot {
namespace {

// What the forward and the backward read alike. Gives the state's shape.
template <class Op>
Result<Shape> check_mamba2_inputs(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 4));
  const std::int64_t batch = a.x.size(0);
  const std::int64_t time = a.x.size(1);
  const std::int64_t heads = a.x.size(2);
  const std::int64_t width = a.x.size(3);
  if (heads < 1 || width < 1) {
    return violated(Op::name, "C1", "expected 1 head and 1 channel or more, found x ", a.x.shape());
  }
  TRY(require_shape(Op::name, "C2", "delta", a.delta, {batch, time, heads}));
  TRY(require_shape(Op::name, "C3", "transition", a.transition, {heads}));
  if (is_present(a.skip)) TRY(require_shape(Op::name, "C3", "skip", a.skip, {heads}));
  TRY(require_rank(Op::name, "C4", "input_projection", a.input_projection, 4));
  const std::int64_t head_groups = a.input_projection.size(2);
  const std::int64_t memories = a.input_projection.size(3);
  if (head_groups < 1 || memories < 1 || heads % head_groups != 0) {
    return violated(Op::name, "C4", "expected groups that divide ", heads, " heads and 1 memory or more, found ",
                    a.input_projection.shape());
  }
  const Shape projection = {batch, time, head_groups, memories};
  TRY(require_shape(Op::name, "C4", "input_projection", a.input_projection, projection));
  TRY(require_shape(Op::name, "C4", "output_projection", a.output_projection, projection));
  TRY(require_contiguous_rows(Op::name, "C7", "input_projection", a.input_projection));
  TRY(require_contiguous_rows(Op::name, "C7", "output_projection", a.output_projection));
  const Shape state = {batch, heads, width, memories};
  if (is_present(a.initial_state)) {
    TRY(require_shape(Op::name, "C6", "initial_state", a.initial_state, state));
    TRY(require_contiguous_rows(Op::name, "C7", "initial_state", a.initial_state));
  }
  return state;
}

}  // namespace

Result<void> Mamba2::check(const Arguments& a) {
  const Shape state = TRY(check_mamba2_inputs<Mamba2>(a));
  TRY(require_shape(name, "C5", "y", a.y, a.x.shape()));
  TRY(require_shape(name, "C6", "final_state", a.final_state, state));
  TRY(require_contiguous_rows(name, "C7", "final_state", a.final_state));
  return {};
}

Cost Mamba2::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const auto states = static_cast<double>(a.final_state.count());
  return {.operations = count * static_cast<double>(a.input_projection.size(3)) * 5,
          .bytes_read = 4 * (count + 2 * static_cast<double>(a.input_projection.count()) + states),
          .bytes_written = 4 * (count + states)};
}

Tolerance Mamba2::tolerance(const Arguments&) {
  return {.epsilons = 16,
          .scale = ErrorScale::tensor,
          .reason = "a sum over N that may cancel; each step rounds the memory, decays shrink old roundings"};
}

std::span<const Variant<Mamba2>> Mamba2::variants() {
  static const Variant<Mamba2> table[] = {
      mamba2_cuda,
      INGOT_SIMD_ROWS(mamba2_simd),
      {"reference", {}, mamba2_reference},
  };
  return table;
}

Result<void> Mamba2Backward::check(const Arguments& a) {
  const Shape state = TRY(check_mamba2_inputs<Mamba2Backward>(a));
  TRY(require_shape(name, "C5", "dy", a.dy, a.x.shape()));
  TRY(require_shape(name, "C5", "dx", a.dx, a.x.shape()));
  TRY(require_shape(name, "C5", "ddelta", a.ddelta, a.delta.shape()));
  TRY(require_shape(name, "C5", "dtransition", a.dtransition, a.transition.shape()));
  TRY(require_shape(name, "C5", "dinput_projection", a.dinput_projection, a.input_projection.shape()));
  TRY(require_shape(name, "C5", "doutput_projection", a.doutput_projection, a.output_projection.shape()));
  if (is_present(a.dskip)) TRY(require_shape(name, "C5", "dskip", a.dskip, a.transition.shape()));
  if (is_present(a.dfinal_state)) TRY(require_shape(name, "C5", "dfinal_state", a.dfinal_state, state));
  if (is_present(a.dinitial_state)) TRY(require_shape(name, "C5", "dinitial_state", a.dinitial_state, state));
  return {};
}

Cost Mamba2Backward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = count * static_cast<double>(a.input_projection.size(3)) * 18,
          .bytes_read = 4 * 2 * (count + static_cast<double>(a.input_projection.count())),
          .bytes_written = 4 * (count + 2 * static_cast<double>(a.input_projection.count()))};
}

Tolerance Mamba2Backward::tolerance(const Arguments&) {
  return {.epsilons = 256,
          .scale = ErrorScale::tensor,
          .reason = "two recurrences over time, and sums over heads and batch that may cancel"};
}

std::span<const Variant<Mamba2Backward>> Mamba2Backward::variants() {
  static const Variant<Mamba2Backward> table[] = {
      {"reference", {}, mamba2_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Mamba2>();
template const Operation& describe_operation<Mamba2Backward>();

}  // namespace ingot
