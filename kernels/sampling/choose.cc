#include "kernels/sampling/choose.h"

#include "kernels/contract/describe.h"
#include "kernels/sampling/choose_cases.h"
#include "kernels/sampling/weight.h"

namespace ingot {
namespace {

// A ranked maximum a row and a sum a block.
std::size_t categorical_scratch(const Categorical::Arguments& a, int) {
  const std::int64_t blocks = divide_rounding_up(a.logits.size(1), sampling::block_tokens);
  return static_cast<std::size_t>(a.logits.size(0) * (1 + blocks)) * sizeof(double);
}

}  // namespace

Result<void> Greedy::check(const Arguments& a) {
  TRY(sampling::require_logits(name, "C1", a.logits));
  return sampling::require_per_row(name, "C2", "tokens", a.tokens, a.logits);
}

Cost Greedy::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  return {.operations = count, .bytes_read = 4 * count, .bytes_written = 4 * static_cast<double>(a.tokens.count())};
}

Tolerance Greedy::tolerance(const Arguments&) { return Tolerance::exact("a choice in a total order"); }

std::span<const Variant<Greedy>> Greedy::variants() {
  static const Variant<Greedy> table[] = {
      greedy_cuda,
      INGOT_SIMD_ROWS(greedy_simd),
      {"reference", {}, greedy_reference},
  };
  return table;
}

Result<void> Categorical::check(const Arguments& a) {
  TRY(sampling::require_logits(name, "C1", a.logits));
  TRY(sampling::require_per_row(name, "C2", "tokens", a.tokens, a.logits));
  TRY(sampling::require_per_row(name, "C3", "uniform", a.uniform, a.logits));
  if (!a.uniform.place().is_host()) return {};  // what is in it is the caller's to know
  for (std::int64_t row = 0; row < a.uniform.size(0); ++row) {
    const float number = a.uniform.data()[row];
    if (!(number >= 0 && number < 1)) {
      return violated(name, "C3", "expected uniform numbers in [0, 1), found another in row ", row);
    }
  }
  return {};
}

Cost Categorical::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  return {
      .operations = 25 * count, .bytes_read = 4 * count, .bytes_written = 4 * static_cast<double>(a.tokens.count())};
}

Tolerance Categorical::tolerance(const Arguments&) {
  return Tolerance::exact("weights and the order of their sums are defined to the bit");
}

std::span<const Variant<Categorical>> Categorical::variants() {
  static const Variant<Categorical> table[] = {
      categorical_cuda,
      INGOT_SIMD_ROWS(categorical_simd, nullptr, categorical_scratch),
      {"reference", {}, categorical_reference},
  };
  return table;
}

template const Operation& describe_operation<Greedy>();
template const Operation& describe_operation<Categorical>();

}  // namespace ingot
