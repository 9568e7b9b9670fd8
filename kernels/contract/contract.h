// KernelContract: what a type must have to be an operation. An operation that lacks a part does not compile, and the
// concept names the part.
#pragma once

#include <concepts>

#include "kernels/contract/case_list.h"
#include "kernels/contract/constraints.h"
#include "kernels/contract/cost.h"
#include "kernels/contract/tolerance.h"
#include "kernels/contract/variant.h"

namespace ingot {

// The backward operations of a differentiable operation, or the reason why there are none. A backward operation takes
// its forward's fields by their names, the gradient of output y as "dy", and gives the gradient of input x as "dx".
struct Backward {
  std::array<std::string_view, 4> operations{};
  std::string_view reason;

  static constexpr Backward none(std::string_view reason) { return {{}, reason}; }
  template <class... Names>
  static constexpr Backward by(Names... names) {
    return {{std::string_view(names)...}, {}};
  }
};

template <class Op>
concept KernelContract = requires(const typename Op::Arguments& arguments, CaseList<Op>& list) {
  { Op::name } -> std::convertible_to<std::string_view>;
  { Op::equation } -> std::convertible_to<std::string_view>;
  { Op::backward } -> std::convertible_to<Backward>;
  { Op::Arguments::fields() };
  { Op::check(arguments) } -> std::same_as<Result<void>>;
  { Op::cost(arguments) } -> std::same_as<Cost>;
  { Op::tolerance(arguments) } -> std::same_as<Tolerance>;
  { Op::variants() } -> std::same_as<std::span<const Variant<Op>>>;
  { Op::cases(list) } -> std::same_as<void>;
};

}  // namespace ingot
