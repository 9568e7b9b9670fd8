#include "kernels/attention/cached/prefill.h"

#include "kernels/attention/cached/prefill_cases.h"
#include "kernels/attention/cached/prefill_plan.h"
#include "kernels/contract/describe.h"

namespace ingot {
namespace {

Result<void> check_runs(std::string_view name, const Prefill::Arguments& a) {
  const std::int64_t runs = a.sequences();
  if (a.run_begins(0) != 0 || a.run_begins(runs) != a.tokens()) {
    return violated(name, "C10", "expected run_begins from 0 to ", a.tokens(), ", found ",
                    std::int64_t{a.run_begins(0)}, " to ", std::int64_t{a.run_begins(runs)});
  }
  for (std::int64_t run = 0; run < runs; ++run) {
    if (a.run_begins(run + 1) < a.run_begins(run)) {
      return violated(name, "C10", "expected run_begins that do not fall, found ", std::int64_t{a.run_begins(run)},
                      " before ", std::int64_t{a.run_begins(run + 1)});
    }
    if (a.run_tokens(run) > a.lengths(run)) {
      return violated(name, "C11", "expected a run of at most ", std::int64_t{a.lengths(run)}, " tokens, found ",
                      a.run_tokens(run), " in run ", run);
    }
  }
  return {};
}

}  // namespace

Result<void> Prefill::check(const Arguments& a) {
  TRY(require_rank(name, "C10", "run_begins", a.run_begins, 1));
  if (a.run_begins.size(0) < 1) return violated(name, "C10", "expected run_begins of at least one number, found none");
  TRY(check_cached_arguments(name, a, a.run_begins.size(0) - 1));
  return a.run_begins.place().is_host() ? check_runs(name, a) : Result<void>();
}

Cost Prefill::cost(const Arguments& a) {
  double pairs = 0;
  double read = 0;  // tokens of the cache
  for (std::int64_t run = 0; run < a.sequences(); ++run) {
    if (a.run_tokens(run) == 0) continue;
    const std::int64_t begin = a.first_position(run);
    for (std::int64_t position = begin; position < a.lengths(run); ++position) {
      const KeyRange range = a.positions_seen(position);
      pairs += static_cast<double>(range.end - range.begin);
    }
    const std::int64_t positions = a.lengths(run) - a.positions_seen(begin).begin;
    read += static_cast<double>(a.ring ? std::min(positions, a.keys().capacity()) : positions);
  }
  return {.operations = cached_operations(a, pairs),
          .bytes_read = cached_bytes(a, read) + 4 * static_cast<double>(a.q.count()),
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

Tolerance Prefill::tolerance(const Arguments&) { return cached_tolerance(); }

std::span<const Variant<Prefill>> Prefill::variants() {
  static const Variant<Prefill> table[] = {
      prefill_cuda,
      INGOT_SIMD_ROWS(prefill_simd, nullptr, prefill_scratch_bytes),
      {"reference", {}, prefill_reference},
  };
  return table;
}

template const Operation& describe_operation<Prefill>();

}  // namespace ingot
