#include "kernels/elementwise/binary_backward.h"

#include "kernels/contract/describe.h"
#include "kernels/elementwise/binary_backward_cases.h"
#include "kernels/elementwise/checks.h"

namespace ingot {

template <class Op, class OpArguments>
Result<void> BinaryBackwardContract<Op, OpArguments>::check(const Arguments& a) {
  TRY(elementwise::require_any_elements(Op::name, "C1", "dy", a.dy));
  TRY(elementwise::require_elements(Op::name, "C2", "da", a.da, a.dy.shape()));
  TRY(elementwise::require_repeats_to(Op::name, "C3", "db", a.db, a.dy.shape()));
  if constexpr (requires { a.a; }) {
    TRY(elementwise::require_elements(Op::name, "C4", "a", a.a, a.dy.shape()));
    TRY(elementwise::require_elements(Op::name, "C4", "b", a.b, a.db.shape()));
  }
  return {};
}

template <class Op, class OpArguments>
Cost BinaryBackwardContract<Op, OpArguments>::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.dy.count());
  const auto second = static_cast<double>(a.db.count());
  constexpr bool has_inputs = requires { a.a; };
  return {.operations = (has_inputs ? 5 : 1) * count,
          .bytes_read = 4 * (has_inputs ? 2 * count + second : count),
          .bytes_written = 4 * (count + second)};
}

template <class Op, class OpArguments>
Tolerance BinaryBackwardContract<Op, OpArguments>::tolerance(const Arguments&) {
  return {.epsilons = 1, .reason = "double sums in another order, each rounded once to float"};
}

template <class Op, class OpArguments>
std::span<const Variant<Op>> BinaryBackwardContract<Op, OpArguments>::variants() {
  static const Variant<Op> table[] = {
      INGOT_SIMD_ROWS(binary_backward_simd<Op>()),
      {"reference", {}, binary_backward_reference<Op>},
  };
  return table;
}

template struct BinaryBackwardContract<AddBackward, AdditiveBackwardArguments>;
template struct BinaryBackwardContract<SubtractBackward, AdditiveBackwardArguments>;
template struct BinaryBackwardContract<MultiplyBackward, ProductBackwardArguments>;
template struct BinaryBackwardContract<DivideBackward, ProductBackwardArguments>;

template const Operation& describe_operation<AddBackward>();
template const Operation& describe_operation<SubtractBackward>();
template const Operation& describe_operation<MultiplyBackward>();
template const Operation& describe_operation<DivideBackward>();

}  // namespace ingot
