#include "kernels/elementwise/unary.h"

#include <cmath>

#include "kernels/contract/describe.h"
#include "kernels/elementwise/checks.h"
#include "kernels/elementwise/unary_cases.h"

namespace ingot {

template <class Op, class OpArguments>
Result<void> UnaryContract<Op, OpArguments>::check(const Arguments& a) {
  const Shape shape = a.sources()[0].shape();
  Result<void> result;
  bool is_first = true;
  auto check_field = [&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::is_tensor) {
      const auto& view = a.*field.member;
      if (result.ok()) {
        result = is_first ? elementwise::require_any_elements(Op::name, "C1", field.name, view)
                          : elementwise::require_elements(Op::name, "C2", field.name, view, shape);
      }
      is_first = false;
    }
  };
  std::apply([&](const auto&... field) { (check_field(field), ...); }, Arguments::fields());
  if (!result.ok()) return result.error();
  if constexpr (requires { a.factor; }) {
    if (!std::isfinite(a.factor)) return violated(Op::name, "C3", "expected a finite factor, found one that is not");
  }
  if constexpr (requires { a.low; }) {
    if (!(a.low <= a.high)) return violated(Op::name, "C3", "expected low <= high, found bounds that are not");
  }
  return {};
}

template <class Op, class OpArguments>
Cost UnaryContract<Op, OpArguments>::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.target().count());
  const double operations = std::is_same_v<Op, Exponential> ? 20 : 1;
  return {.operations = operations * count,
          .bytes_read = 4 * count * static_cast<double>(a.sources().size()),
          .bytes_written = 4 * count};
}

template <class Op, class OpArguments>
Tolerance UnaryContract<Op, OpArguments>::tolerance(const Arguments&) {
  if constexpr (std::is_same_v<Op, Exponential>) {
    return {.epsilons = 2, .reason = "a polynomial in float and two roundings of its scale"};
  } else {
    return Tolerance::exact("one correctly rounded operation; rounding a double result again changes nothing");
  }
}

template <class Op, class OpArguments>
std::span<const Variant<Op>> UnaryContract<Op, OpArguments>::variants() {
  constexpr bool is_forward = !requires(OpArguments a) { a.dx; };
  if constexpr (is_forward) {
    static const Variant<Op> table[] = {
        unary_cuda<Op>(),
        INGOT_SIMD_ROWS(unary_simd<Op>()),
        {"reference", {}, unary_reference<Op>},
    };
    return table;
  } else {
    static const Variant<Op> table[] = {
        INGOT_SIMD_ROWS(unary_simd<Op>()),
        {"reference", {}, unary_reference<Op>},
    };
    return table;
  }
}

template struct UnaryContract<Scale, ScaleArguments>;
template struct UnaryContract<ScaleBackward, ScaleBackwardArguments>;
template struct UnaryContract<Clamp, ClampArguments>;
template struct UnaryContract<ClampBackward, ClampBackwardArguments>;
template struct UnaryContract<Exponential, CurveArguments>;
template struct UnaryContract<ExponentialBackward, CurveBackwardArguments>;
template struct UnaryContract<SquareRoot, CurveArguments>;
template struct UnaryContract<SquareRootBackward, CurveBackwardArguments>;

template const Operation& describe_operation<Scale>();
template const Operation& describe_operation<ScaleBackward>();
template const Operation& describe_operation<Clamp>();
template const Operation& describe_operation<ClampBackward>();
template const Operation& describe_operation<Exponential>();
template const Operation& describe_operation<ExponentialBackward>();
template const Operation& describe_operation<SquareRoot>();
template const Operation& describe_operation<SquareRootBackward>();

}  // namespace ingot
