#include "kernels/sampling/repetition_penalty.h"

#include <cmath>

#include "kernels/contract/describe.h"
#include "kernels/sampling/repetition_penalty_cases.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

// A counter a token, for each worker.
std::size_t counter_bytes(const RepetitionPenalty::Arguments& a, int threads) {
  return static_cast<std::size_t>(a.logits.size(1) * threads) * sizeof(std::int32_t);
}

// What is in the history.
Result<void> require_tokens(const RepetitionPenalty::Arguments& a) {
  constexpr std::string_view name = RepetitionPenalty::name;
  const Rows history(a.history);
  for (std::int64_t row = 0; row < history.count(); ++row) {
    for (std::int64_t j = 0; j < history.length(); ++j) {
      const std::int32_t token = history[row][j];
      if (token < sampling::no_token || token >= a.logits.size(1)) {
        return violated(name, "C3", "expected tokens in [-1, ", a.logits.size(1), "), found ", token, " in row ", row);
      }
    }
  }
  return {};
}

}  // namespace

Result<void> RepetitionPenalty::check(const Arguments& a) {
  TRY(sampling::require_logits(name, "C1", a.logits));
  TRY(require_shape(name, "C2", "y", a.y, a.logits.shape()));
  TRY(require_contiguous_rows(name, "C2", "y", a.y));
  TRY(require_rank(name, "C3", "history", a.history, 2));
  TRY(require_shape(name, "C3", "history", a.history, {a.logits.size(0), a.history.size(1)}));
  TRY(require_contiguous_rows(name, "C3", "history", a.history));
  if (a.history.place().is_host()) TRY(require_tokens(a));
  if (!std::isfinite(a.repetition) || a.repetition <= 0) {
    return violated(name, "C4", "expected a finite repetition penalty above 0, found one that is not");
  }
  if (!std::isfinite(a.presence) || !std::isfinite(a.frequency)) {
    return violated(name, "C4", "expected finite presence and frequency penalties, found one that is not");
  }
  return {};
}

Cost RepetitionPenalty::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  const auto history = static_cast<double>(a.history.count());
  return {.operations = 4 * history, .bytes_read = 4 * (count + history), .bytes_written = 4 * count};
}

Tolerance RepetitionPenalty::tolerance(const Arguments&) {
  return Tolerance::exact("all variants apply one scalar function; they differ in how they count");
}

std::span<const Variant<RepetitionPenalty>> RepetitionPenalty::variants() {
  static const Variant<RepetitionPenalty> table[] = {
      repetition_penalty_cuda,
      {"counted", {}, repetition_penalty_counted, nullptr, counter_bytes},
      {"reference", {}, repetition_penalty_reference},
  };
  return table;
}

template const Operation& describe_operation<RepetitionPenalty>();

}  // namespace ingot
