#include "kernels/optimizer/global_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/optimizer/global_norm_cases.h"
#include "kernels/optimizer/segments.h"

namespace ingot {

Result<void> GlobalNorm::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "x", a.x, 1, max_rank));
  TRY(require_contiguous_rows(name, "C1", "x", a.x));
  return require_shape(name, "C2", "norm", a.norm, {1});
}

Cost GlobalNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 2 * count, .bytes_read = 4 * count, .bytes_written = 4};
}

Tolerance GlobalNorm::tolerance(const Arguments&) {
  return {.epsilons = 1, .reason = "both sum in double; the order may move the last bit of the rounded root"};
}

std::span<const Variant<GlobalNorm>> GlobalNorm::variants() {
  static constexpr auto sums = [](const Arguments& a, int) {
    return static_cast<std::size_t>(Segments(std::array{a.x}).count()) * sizeof(double);
  };
  static const Variant<GlobalNorm> table[] = {
      INGOT_SIMD_ROWS(global_norm_simd, nullptr, sums),
      {"reference", {}, global_norm_reference},
  };
  return table;
}

template const Operation& describe_operation<GlobalNorm>();

}  // namespace ingot
