// Each row of these tables is the addition's row of the same name, called with the arguments under their other names.
#include "kernels/elementwise/bias.h"

#include "kernels/contract/describe.h"
#include "kernels/elementwise/bias_cases.h"
#include "kernels/elementwise/binary_backward.h"
#include "kernels/elementwise/checks.h"

namespace ingot {
namespace {

BinaryArguments renamed(const BiasArguments& a) { return {a.x, a.bias, a.y}; }
BinaryArguments renamed(const ResidualAddArguments& a) { return {a.x, a.residual, a.y}; }
AdditiveBackwardArguments renamed(const BiasBackwardArguments& a) { return {a.dy, a.dx, a.dbias}; }
AdditiveBackwardArguments renamed(const ResidualAddBackwardArguments& a) { return {a.dy, a.dx, a.dresidual}; }

// The addition's table: Add or AddBackward, whichever takes the renamed arguments.
template <class Op>
using AdditionOf =
    std::conditional_t<std::is_same_v<decltype(renamed(std::declval<typename Op::Arguments>())), BinaryArguments>, Add,
                       AddBackward>;

template <class Op, std::size_t row>
void run_addition(const typename Op::Arguments& arguments, Context& context) {
  AdditionOf<Op>::variants()[row].run(renamed(arguments), context);
}

template <class Op, std::size_t... row>
std::array<Variant<Op>, sizeof...(row)> renamed_table(std::index_sequence<row...>) {
  const auto rows = AdditionOf<Op>::variants();
  return {Variant<Op>{rows[row].name, rows[row].needs, rows[row].run == nullptr ? nullptr : run_addition<Op, row>}...};
}

}  // namespace

template <class Op, class OpArguments>
Result<void> NamedAddition<Op, OpArguments>::check(const Arguments& a) {
  if constexpr (requires { a.dy; }) {
    TRY(elementwise::require_any_elements(Op::name, "C1", "dy", a.dy));
    TRY(elementwise::require_elements(Op::name, "C3", "dx", a.dx, a.dy.shape()));
    if constexpr (requires { a.dbias; }) {
      return elementwise::require_elements(Op::name, "C2", "dbias", a.dbias, {a.dy.shape().last()});
    } else {
      return elementwise::require_elements(Op::name, "C2", "dresidual", a.dresidual, a.dy.shape());
    }
  } else {
    TRY(elementwise::require_any_elements(Op::name, "C1", "x", a.x));
    TRY(elementwise::require_elements(Op::name, "C3", "y", a.y, a.x.shape()));
    if constexpr (requires { a.bias; }) {
      return elementwise::require_elements(Op::name, "C2", "bias", a.bias, {a.x.shape().last()});
    } else {
      return elementwise::require_elements(Op::name, "C2", "residual", a.residual, a.x.shape());
    }
  }
}

template <class Op, class OpArguments>
Cost NamedAddition<Op, OpArguments>::cost(const Arguments& a) {
  return AdditionOf<Op>::cost(renamed(a));
}

template <class Op, class OpArguments>
Tolerance NamedAddition<Op, OpArguments>::tolerance(const Arguments&) {
  return Tolerance::exact("one rounding an element; rows are summed in double, in row order, by every variant");
}

template <class Op, class OpArguments>
std::span<const Variant<Op>> NamedAddition<Op, OpArguments>::variants() {
  static const auto table = renamed_table<Op>(std::make_index_sequence<5>());
  return table;
}

template struct NamedAddition<Bias, BiasArguments>;
template struct NamedAddition<BiasBackward, BiasBackwardArguments>;
template struct NamedAddition<ResidualAdd, ResidualAddArguments>;
template struct NamedAddition<ResidualAddBackward, ResidualAddBackwardArguments>;

template const Operation& describe_operation<Bias>();
template const Operation& describe_operation<BiasBackward>();
template const Operation& describe_operation<ResidualAdd>();
template const Operation& describe_operation<ResidualAddBackward>();

}  // namespace ingot
