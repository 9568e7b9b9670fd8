// Each row of these tables is the addition's row of the same name, called with the arguments under their other names.
#include "kernels/elementwise/bias.h"

#include <vector>

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

template <class Op>
const Variant<AdditionOf<Op>>& addition_row(const void* row) {
  return *static_cast<const Variant<AdditionOf<Op>>*>(row);
}

template <class Op>
void run_addition(const void* row, const typename Op::Arguments& arguments, Context& context) {
  addition_row<Op>(row).run(renamed(arguments), context);
}

template <class Op>
bool addition_accepts(const void* row, const typename Op::Arguments& arguments) {
  return addition_row<Op>(row).accepts(renamed(arguments));
}

template <class Op>
std::vector<Variant<Op>> renamed_table() {
  std::vector<Variant<Op>> table;
  for (const Variant<AdditionOf<Op>>& row : AdditionOf<Op>::variants()) {
    Variant<Op> same = {.name = row.name, .needs = row.needs, .device_function = row.device_function};
    if (!(row.run == nullptr)) same.run = {run_addition<Op>, &row};
    if (!(row.accepts == nullptr)) same.accepts = {addition_accepts<Op>, &row};
    table.push_back(same);
  }
  return table;
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
  static const auto table = renamed_table<Op>();
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
