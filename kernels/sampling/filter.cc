#include "kernels/sampling/filter.h"

#include <cmath>

#include "kernels/contract/describe.h"
#include "kernels/sampling/filter_cases.h"
#include "kernels/sampling/weight.h"

namespace ingot {
namespace {

// top_k: a heap a worker. top_p: a ranked maximum a row, a sum a block, and a list of candidates a worker.
template <class Op>
std::size_t filter_scratch(const typename Op::Arguments& a, int threads) {
  const std::int64_t tokens = a.logits.size(1);
  std::int64_t numbers = 0;
  if constexpr (std::is_same_v<Op, SamplingTopK>) numbers = std::min(a.limit, tokens) * threads;
  if constexpr (std::is_same_v<Op, TopP>) {
    numbers = a.logits.size(0) * (1 + divide_rounding_up(tokens, sampling::block_tokens)) + tokens * threads;
  }
  return static_cast<std::size_t>(numbers) * sizeof(std::int64_t);
}

}  // namespace

template <class Op, class Number>
Result<void> FilterContract<Op, Number>::check(const Arguments& a) {
  TRY(sampling::require_logits(Op::name, "C1", a.logits));
  TRY(require_shape(Op::name, "C2", "y", a.y, a.logits.shape()));
  TRY(require_contiguous_rows(Op::name, "C2", "y", a.y));
  if constexpr (std::is_same_v<Op, Temperature>) {
    if (!std::isfinite(a.limit) || a.limit <= 0) {
      return violated(Op::name, "C3", "expected a finite temperature above 0, found one that is not");
    }
  } else if constexpr (std::is_same_v<Op, SamplingTopK>) {
    if (a.limit < 1) return violated(Op::name, "C3", "expected k of 1 or more, found ", a.limit);
  } else if constexpr (std::is_same_v<Op, TopP>) {
    if (!(a.limit > 0 && a.limit <= 1)) return violated(Op::name, "C3", "expected 0 < p <= 1, found p outside");
  } else {
    if (!(a.limit >= 0 && a.limit <= 1))
      return violated(Op::name, "C3", "expected 0 <= min_p <= 1, found min_p outside");
  }
  return {};
}

template <class Op, class Number>
Cost FilterContract<Op, Number>::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  const double operations = std::is_same_v<Op, TopP> ? 25 : std::is_same_v<Op, Temperature> ? 1 : 2;
  return {.operations = operations * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

template <class Op, class Number>
Tolerance FilterContract<Op, Number>::tolerance(const Arguments&) {
  return Tolerance::exact("one rounded division, or a choice that is defined to the bit");
}

template <class Op, class Number>
std::span<const Variant<Op>> FilterContract<Op, Number>::variants() {
  static const Variant<Op> table[] = {
      filter_cuda<Op>(),
      INGOT_SIMD_ROWS(filter_simd<Op>(), nullptr, filter_scratch<Op>),
      {"reference", {}, filter_reference<Op>},
  };
  return table;
}

template struct FilterContract<Temperature, float>;
template struct FilterContract<SamplingTopK, std::int64_t>;
template struct FilterContract<TopP, float>;
template struct FilterContract<MinP, float>;

template const Operation& describe_operation<Temperature>();
template const Operation& describe_operation<SamplingTopK>();
template const Operation& describe_operation<TopP>();
template const Operation& describe_operation<MinP>();

}  // namespace ingot
