#include "kernels/position/alibi_slopes.h"

#include <bit>
#include <cmath>

#include "kernels/contract/describe.h"

namespace ingot {

Result<void> AlibiSlopes::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "slopes", a.slopes, 1));
  if (std::isfinite(a.max_bias) && a.max_bias > 0) return {};
  return violated(name, "C2", "expected a finite max_bias above 0, found one that is not");
}

Cost AlibiSlopes::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.slopes.count());
  return {.operations = count, .bytes_read = 0, .bytes_written = 4 * count};
}

Tolerance AlibiSlopes::tolerance(const Arguments&) { return {.epsilons = 1, .reason = "one rounding to float"}; }

void alibi_slopes_reference(const AlibiSlopes::Arguments& a, Context&) {
  const std::int64_t heads = a.slopes.size(0);
  if (heads == 0) return;
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  for (std::int64_t head = 0; head < heads; ++head) {
    const double step = head < power ? static_cast<double>(head + 1) : static_cast<double>(2 * (head - power) + 1) / 2;
    a.slopes(head) = static_cast<float>(std::exp2(-double{a.max_bias} * step / static_cast<double>(power)));
  }
}

std::span<const Variant<AlibiSlopes>> AlibiSlopes::variants() {
  static const Variant<AlibiSlopes> table[] = {
      alibi_slopes_cuda,
      {"reference", {}, alibi_slopes_reference},
  };
  return table;
}

void AlibiSlopes::cases(CaseList<AlibiSlopes>& list) {
  for (std::int64_t heads : {0, 1, 8, 12, 40}) {
    list.parity(std::to_string(heads) + " heads", [heads](CaseBuilder& builder) {
      Arguments a;
      a.slopes = builder.blank({heads});
      return a;
    });
  }
  list.benchmark("64 heads", [](CaseBuilder& builder) {
    Arguments a;
    a.slopes = builder.blank({64});
    return a;
  });
}

template const Operation& describe_operation<AlibiSlopes>();

}  // namespace ingot
