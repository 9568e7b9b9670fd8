#include "kernels/elementwise/reduce.h"

#include <limits>

#include "kernels/contract/describe.h"
#include "kernels/elementwise/checks.h"
#include "kernels/elementwise/reduce_cases.h"

namespace ingot {
namespace {

// Memory for the results of pieces, 8 bytes each; rows of one piece need none.
template <class Arguments>
std::size_t piece_bytes(const Arguments& a, int) {
  const std::int64_t pieces = divide_rounding_up(a.x.shape().last(), elements_per_piece);
  return pieces == 1 ? 0 : static_cast<std::size_t>(a.x.count() / a.x.shape().last() * pieces) * sizeof(double);
}

template <class Arguments>
constexpr bool is_backward = requires(Arguments a) { a.dx; };

}  // namespace

template <class Op, class OpArguments>
Result<void> ReductionContract<Op, OpArguments>::check(const Arguments& a) {
  auto check_rows = [](std::string_view field, const ConstAnyView& rows) -> Result<void> {
    TRY(elementwise::require_any_elements(Op::name, "C1", field, rows));
    const std::int64_t length = rows.shape().last();
    if (length < 1 || length > std::numeric_limits<std::int32_t>::max()) {
      return violated(Op::name, "C1", "expected a last axis of 1 to 2^31 - 1 elements, found ", field, " ",
                      rows.shape());
    }
    return {};
  };
  auto check_reduced = [](std::string_view field, const ConstAnyView& view, const Shape& shape) -> Result<void> {
    TRY(require_shape(Op::name, "C2", field, view, elementwise::without_last_axis(shape)));
    return require_contiguous(Op::name, "C2", field, view);
  };
  if constexpr (is_backward<Arguments>) {
    TRY(check_rows("dx", a.dx));
    if constexpr (requires { a.x; }) TRY(elementwise::require_elements(Op::name, "C3", "x", a.x, a.dx.shape()));
    return check_reduced("dy", a.dy, a.dx.shape());
  } else {
    TRY(check_rows("x", a.x));
    if constexpr (requires { a.indices; })
      return check_reduced("indices", a.indices, a.x.shape());
    else
      return check_reduced("y", a.y, a.x.shape());
  }
}

template <class Op, class OpArguments>
Cost ReductionContract<Op, OpArguments>::cost(const Arguments& a) {
  if constexpr (is_backward<Arguments>) {
    const auto count = static_cast<double>(a.dx.count());
    const auto rows = static_cast<double>(a.dy.count());
    constexpr bool reads_rows = requires { a.x; };
    return {.operations = reads_rows ? 2 * count : rows,
            .bytes_read = 4 * (rows + (reads_rows ? count : 0)),
            .bytes_written = 4 * count};
  } else {
    const auto count = static_cast<double>(a.x.count());
    const double rows = count / static_cast<double>(a.x.shape().last());
    const bool squares = std::is_same_v<Op, ReduceSumOfSquares>;
    return {.operations = (squares ? 2 : 1) * count, .bytes_read = 4 * count, .bytes_written = 4 * rows};
  }
}

template <class Op, class OpArguments>
Tolerance ReductionContract<Op, OpArguments>::tolerance(const Arguments&) {
  if constexpr (std::is_same_v<OpArguments, ReductionArguments> && !std::is_same_v<Op, ReduceMax>) {
    return {.epsilons = 1, .reason = "double sums in another order, rounded once to float"};
  } else if constexpr (std::is_same_v<Op, ReduceSumOfSquaresBackward>) {
    return {.epsilons = 1, .reason = "a denormal product is rounded before it is doubled"};
  } else {
    return Tolerance::exact("a choice, a copy, or one rounded division a row");
  }
}

template <class Op, class OpArguments>
std::span<const Variant<Op>> ReductionContract<Op, OpArguments>::variants() {
  if constexpr (is_backward<OpArguments>) {
    static const Variant<Op> table[] = {
        INGOT_SIMD_ROWS(reduce_backward_simd<Op>()),
        {"reference", {}, reduce_backward_reference<Op>},
    };
    return table;
  } else {
    static const Variant<Op> table[] = {
        reduce_cuda<Op>(),
        INGOT_SIMD_ROWS(reduce_simd<Op>(), nullptr, piece_bytes<OpArguments>),
        {"reference", {}, reduce_reference<Op>},
    };
    return table;
  }
}

template struct ReductionContract<ReduceSum, ReductionArguments>;
template struct ReductionContract<ReduceMean, ReductionArguments>;
template struct ReductionContract<ReduceSumOfSquares, ReductionArguments>;
template struct ReductionContract<ReduceMax, ReductionArguments>;
template struct ReductionContract<Argmax, ArgmaxArguments>;
template struct ReductionContract<ReduceSumBackward, SpreadArguments>;
template struct ReductionContract<ReduceMeanBackward, SpreadArguments>;
template struct ReductionContract<ReduceSumOfSquaresBackward, ReductionBackwardArguments>;
template struct ReductionContract<ReduceMaxBackward, ReductionBackwardArguments>;

template const Operation& describe_operation<ReduceSum>();
template const Operation& describe_operation<ReduceMean>();
template const Operation& describe_operation<ReduceSumOfSquares>();
template const Operation& describe_operation<ReduceMax>();
template const Operation& describe_operation<Argmax>();
template const Operation& describe_operation<ReduceSumBackward>();
template const Operation& describe_operation<ReduceMeanBackward>();
template const Operation& describe_operation<ReduceSumOfSquaresBackward>();
template const Operation& describe_operation<ReduceMaxBackward>();

}  // namespace ingot
