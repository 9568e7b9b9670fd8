#include "kernels/state/selective_scan.h"

#include "kernels/contract/describe.h"
#include "kernels/state/selective_scan_cases.h"

namespace ingot {
namespace {

// What the forward and the backward read alike. Gives the state's shape.
template <class Op>
Result<Shape> check_scan_inputs(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 3));
  TRY(require_shape(Op::name, "C1", "delta", a.delta, a.x.shape()));
  const std::int64_t channels = a.x.size(2);
  TRY(require_rank(Op::name, "C2", "transition", a.transition, 2));
  const std::int64_t memories = a.transition.size(1);
  TRY(require_shape(Op::name, "C2", "transition", a.transition, {channels, memories}));
  if (memories < 1) {
    return violated(Op::name, "C2", "expected 1 memory a channel or more, found transition ", a.transition.shape());
  }
  const Shape projection = {a.x.size(0), a.x.size(1), memories};
  TRY(require_shape(Op::name, "C3", "input_projection", a.input_projection, projection));
  TRY(require_shape(Op::name, "C3", "output_projection", a.output_projection, projection));
  if (is_present(a.skip)) TRY(require_shape(Op::name, "C4", "skip", a.skip, {channels}));
  const Shape state = {a.x.size(0), channels, memories};
  if (is_present(a.initial_state)) TRY(require_shape(Op::name, "C6", "initial_state", a.initial_state, state));
  TRY(require_contiguous_rows(Op::name, "C7", "x", a.x));
  TRY(require_contiguous_rows(Op::name, "C7", "delta", a.delta));
  TRY(require_contiguous_rows(Op::name, "C7", "transition", a.transition));
  TRY(require_contiguous_rows(Op::name, "C7", "input_projection", a.input_projection));
  TRY(require_contiguous_rows(Op::name, "C7", "output_projection", a.output_projection));
  if (is_present(a.initial_state)) TRY(require_contiguous_rows(Op::name, "C7", "initial_state", a.initial_state));
  return state;
}

bool fits_stack(const SelectiveScan::Arguments& a) { return a.transition.size(1) <= selective_scan_most_memories; }

}  // namespace

Result<void> SelectiveScan::check(const Arguments& a) {
  const Shape state = TRY(check_scan_inputs<SelectiveScan>(a));
  TRY(require_shape(name, "C5", "y", a.y, a.x.shape()));
  TRY(require_shape(name, "C6", "final_state", a.final_state, state));
  TRY(require_contiguous_rows(name, "C7", "y", a.y));
  TRY(require_contiguous_rows(name, "C7", "final_state", a.final_state));
  return {};
}

Cost SelectiveScan::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const auto memories = static_cast<double>(a.transition.size(1));
  const auto states = static_cast<double>(a.final_state.count());
  // An exponential counts as the 20 operations of its polynomial.
  return {.operations = count * memories * (20 + 6),
          .bytes_read = 4 * (2 * count + 2 * static_cast<double>(a.input_projection.count()) + states),
          .bytes_written = 4 * (count + states)};
}

Tolerance SelectiveScan::tolerance(const Arguments&) {
  return {.epsilons = 16,
          .scale = ErrorScale::tensor,
          .reason = "a sum over N that may cancel; each step rounds the memories, decays shrink old roundings"};
}

std::span<const Variant<SelectiveScan>> SelectiveScan::variants() {
  static const Variant<SelectiveScan> table[] = {
      selective_scan_cuda,
      INGOT_SIMD_ROWS(selective_scan_simd, fits_stack),
      {"reference", {}, selective_scan_reference},
  };
  return table;
}

Result<void> SelectiveScanBackward::check(const Arguments& a) {
  const Shape state = TRY(check_scan_inputs<SelectiveScanBackward>(a));
  TRY(require_shape(name, "C5", "dy", a.dy, a.x.shape()));
  TRY(require_shape(name, "C5", "dx", a.dx, a.x.shape()));
  TRY(require_shape(name, "C5", "ddelta", a.ddelta, a.x.shape()));
  TRY(require_shape(name, "C5", "dtransition", a.dtransition, a.transition.shape()));
  TRY(require_shape(name, "C5", "dinput_projection", a.dinput_projection, a.input_projection.shape()));
  TRY(require_shape(name, "C5", "doutput_projection", a.doutput_projection, a.output_projection.shape()));
  if (is_present(a.dskip)) TRY(require_shape(name, "C5", "dskip", a.dskip, {a.x.size(2)}));
  if (is_present(a.dfinal_state)) TRY(require_shape(name, "C5", "dfinal_state", a.dfinal_state, state));
  if (is_present(a.dinitial_state)) TRY(require_shape(name, "C5", "dinitial_state", a.dinitial_state, state));
  return {};
}

Cost SelectiveScanBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = count * static_cast<double>(a.transition.size(1)) * (20 + 20),
          .bytes_read = 4 * 3 * count,
          .bytes_written = 4 * 2 * count};
}

Tolerance SelectiveScanBackward::tolerance(const Arguments&) {
  return {.epsilons = 256,
          .scale = ErrorScale::tensor,
          .reason = "two scans over time, and sums over channels and batch that may cancel"};
}

std::span<const Variant<SelectiveScanBackward>> SelectiveScanBackward::variants() {
  static const Variant<SelectiveScanBackward> table[] = {
      {"reference", {}, selective_scan_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<SelectiveScan>();
template const Operation& describe_operation<SelectiveScanBackward>();

}  // namespace ingot
