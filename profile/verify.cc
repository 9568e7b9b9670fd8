#include "profile/verify.h"

#include <algorithm>

#include "kernels/contract/magnitude.h"
#include "kernels/contract/table.h"
#include "profile/compare.h"
#include "profile/gradient.h"

namespace ingot {

struct Verifier::Combination {
  int case_index;
  Regime regime;
  LayoutStyle style;
  bool check_threads;  // also run with 2 and 3 threads and ask for the same bits

  std::string describe(const Operation& operation) const {
    return "case '" + operation.cases[static_cast<std::size_t>(case_index)].name + "', " +
           std::string(name_of(regime)) + " data, " + std::string(name_of(style)) + " layout";
  }
};

struct Verifier::RunResult {
  std::unique_ptr<CaseBuilder> builder;  // owns the memory that the invocation points to
  std::unique_ptr<Invocation> invocation;
  // As they were before the run, which changes states.
  Tolerance tolerance;
  std::vector<double> least_scales;  // of each written tensor
};

namespace {

constexpr std::uint8_t reference_poison = 0xa5;
constexpr std::uint8_t variant_poison = 0x5a;

// visit(field, view) for every tensor that a run writes.
template <class Visit>
void for_each_written(const Operation& operation, const Invocation& invocation, const Visit& visit) {
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    if (!operation.fields[index].is_tensor || !is_written(operation.fields[index].role)) continue;
    const ConstAnyView view = invocation.tensor(static_cast<int>(index));
    if (is_present(view)) visit(operation.fields[index], view);
  }
}

std::vector<ConstAnyView> written_tensors(const Operation& operation, const Invocation& invocation) {
  std::vector<ConstAnyView> views;
  for_each_written(operation, invocation,
                   [&](const FieldInformation&, const ConstAnyView& view) { views.push_back(view); });
  return views;
}

// What errors in each written tensor are measured against at least. A state's new value is its old one plus something,
// and may be all but nothing where they cancel, so the old one counts too.
std::vector<double> least_scales(const Operation& operation, const Invocation& invocation, const Tolerance& tolerance) {
  std::vector<double> scales;
  for_each_written(operation, invocation, [&](const FieldInformation& field, const ConstAnyView& view) {
    const bool old_counts = field.role == Role::state && tolerance.scale != ErrorScale::element;
    scales.push_back(std::max(tolerance.least_scale_of(field.name), old_counts ? largest_magnitude(view) : 0));
  });
  return scales;
}

Error failure(std::string_view text) { return Error::of(ErrorCode::corrupt, text); }

void record_failure(VerifyRow& row, const std::string& where, std::string_view what) {
  if (row.status == VerifyStatus::failed) return;  // the first one says enough
  row.status = VerifyStatus::failed;
  row.detail = where + ": " + std::string(what);
}

}  // namespace

std::string_view name_of(VerifyStatus status) {
  switch (status) {
    case VerifyStatus::passed: return "passed";
    case VerifyStatus::failed: return "failed";
    case VerifyStatus::skipped: return "skipped";
  }
  return "unknown";
}

Verifier::Verifier(FeatureSet features, VerifyOptions options, std::vector<std::unique_ptr<Workers>> workers)
    : features_(features), options_(std::move(options)), workers_(std::move(workers)) {}

Result<Verifier> Verifier::create(FeatureSet features, VerifyOptions options) {
  std::vector<std::unique_ptr<Workers>> workers;
  for (int threads = 1; threads <= 3; ++threads) workers.push_back(TRY(Workers::create({.threads = threads})));
  return Verifier(features, std::move(options), std::move(workers));
}

std::span<std::byte> Verifier::scratch(std::size_t bytes) {
  if (scratch_.size() < bytes) {
    Result<Memory> memory = Memory::allocate(Bytes(bytes));
    if (!memory.ok()) return {};
    scratch_ = std::move(memory).value();
  }
  // Whatever an earlier kernel left here must not matter.
  std::fill_n(scratch_.data(), bytes, std::byte{0xc3});
  return {scratch_.data(), bytes};
}

std::vector<VerifyRow> Verifier::verify(const Operation& operation, std::span<const Operation* const> operations) {
  std::vector<VerifyRow> rows = verify_variants(operation);
  if (!operation.backward.empty() && options_.variant.empty()) rows.push_back(verify_gradient(operation, operations));
  return rows;
}

std::vector<VerifyRow> Verifier::verify_variants(const Operation& operation) {
  std::vector<VerifyRow> rows;
  for (const VariantInformation& variant : operation.variants) {
    VerifyRow row;
    row.operation = operation.name;
    row.variant = variant.name;
    if (availability(variant, features_) == Availability::not_built) {
      row.status = VerifyStatus::skipped;
      row.detail = "not built for this architecture";
    } else if (availability(variant, features_) == Availability::lacks_features) {
      row.status = VerifyStatus::skipped;
      row.detail = "this machine lacks a feature it needs";
    } else if (!options_.variant.empty() && options_.variant != variant.name) {
      row.status = VerifyStatus::skipped;
      row.detail = "not asked for";
    }
    rows.push_back(std::move(row));
  }
  auto is_excluded = [&](Regime regime) {
    return std::any_of(operation.excluded_regimes.begin(), operation.excluded_regimes.end(),
                       [&](const ExcludedRegime& excluded) { return excluded.regime == regime; });
  };
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::parity) continue;
    const int case_index = static_cast<int>(index);
    for (LayoutStyle style : {LayoutStyle::packed, LayoutStyle::padded, LayoutStyle::misaligned}) {
      if (options_.reduced && style == LayoutStyle::padded && index % 2 == 0) continue;
      verify_combination(operation, {case_index, Regime::ordinary, style, style == LayoutStyle::packed}, rows);
    }
    for (Regime regime : {Regime::large, Regime::tiny, Regime::specials, Regime::zeros}) {
      if (is_excluded(regime) || (options_.reduced && index % 3 != 0)) continue;
      verify_combination(operation, {case_index, regime, LayoutStyle::packed, false}, rows);
    }
  }
  for (VerifyRow& row : rows) {
    if (row.status != VerifyStatus::passed) continue;
    if (row.cases == 0) {
      row.status = VerifyStatus::skipped;
      row.detail = "accepts none of the cases";
    }
    for (const ExcludedRegime& excluded : operation.excluded_regimes) {
      row.detail += (row.detail.empty() ? "" : "; ") + std::string("without ") + std::string(name_of(excluded.regime)) +
                    " data: " + std::string(excluded.reason);
    }
  }
  // The option's name must exist somewhere; the caller checks that before it starts.
  if (!options_.variant.empty()) {
    std::erase_if(rows, [](const VerifyRow& row) { return row.detail == "not asked for"; });
  }
  return rows;
}

void Verifier::verify_combination(const Operation& operation, const Combination& combination,
                                  std::vector<VerifyRow>& rows) {
  const std::string where = combination.describe(operation);
  const Result<RunResult> reference = run(operation, operation.reference(), combination, 1);
  for (std::size_t index = 0; index < rows.size(); ++index) {
    VerifyRow& row = rows[index];
    if (row.status != VerifyStatus::passed) continue;
    if (!reference.ok()) {
      record_failure(row, where, reference.error().text());
      continue;
    }
    const int variant = static_cast<int>(index);
    if (!reference.value().invocation->accepts(variant)) continue;
    ++row.cases;
    const Result<double> worst = compare_with_reference(operation, variant, combination, reference.value());
    if (worst.ok()) {
      row.worst_epsilons = std::max(row.worst_epsilons, worst.value());
    } else {
      record_failure(row, where, worst.error().text());
    }
  }
}

Result<double> Verifier::compare_with_reference(const Operation& operation, int variant, const Combination& combination,
                                                const RunResult& reference) {
  const RunResult single = TRY(run(operation, variant, combination, 1));
  const std::vector<ConstAnyView> expected = written_tensors(operation, *reference.invocation);
  const std::vector<ConstAnyView> found = written_tensors(operation, *single.invocation);
  double worst = 0;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    Tolerance tolerance = reference.tolerance;
    tolerance.least_scale = reference.least_scales[index];
    const Comparison comparison = compare_outputs(expected[index], found[index], tolerance);
    if (!comparison.within_tolerance) return failure(comparison.mismatch);
    worst = std::max(worst, comparison.worst_epsilons);
  }
  if (!combination.check_threads) return worst;
  for (int threads = 2; threads <= (options_.reduced ? 2 : 3); ++threads) {
    const RunResult several = TRY(run(operation, variant, combination, threads));
    const std::vector<ConstAnyView> again = written_tensors(operation, *several.invocation);
    for (std::size_t index = 0; index < found.size(); ++index) {
      if (!bit_equal(found[index], again[index])) {
        return failure(text_of("expected the same bits from ", threads, " threads as from one, found others").view());
      }
    }
  }
  return worst;
}

Result<Verifier::RunResult> Verifier::run(const Operation& operation, int variant, const Combination& combination,
                                          int threads) {
  // A seed per case, so that a failure can be repeated alone; the same for every variant, so that all see equal data.
  const std::uint64_t seed = options_.seed * 1000003 + static_cast<std::uint64_t>(combination.case_index);
  const std::uint8_t poison = variant == operation.reference() ? reference_poison : variant_poison;
  RunResult result;
  result.builder = std::make_unique<CaseBuilder>(seed, combination.regime, combination.style, poison);
  result.invocation = operation.build(combination.case_index, *result.builder);
  const Result<void> checked = result.invocation->check();
  if (!checked.ok()) return checked.error().within("the case breaks its own contract");
  if (variant == operation.reference()) {
    result.tolerance = result.invocation->tolerance();
    result.least_scales = least_scales(operation, *result.invocation, result.tolerance);
  }
  result.builder->take_snapshot();
  const std::size_t bytes = result.invocation->scratch_bytes(variant, threads);
  const std::span<std::byte> memory = scratch(bytes);
  if (memory.size() < bytes)
    return Error::of(ErrorCode::out_of_memory, "expected ", bytes, " bytes of scratch, found none");
  Context context{*workers_[static_cast<std::size_t>(threads - 1)], memory};
  if (result.invocation->accepts(variant)) result.invocation->run(variant, context);
  if (result.builder->changed_outside(written_tensors(operation, *result.invocation))) {
    return failure("expected writes to outputs only, found changed bytes outside of them");
  }
  return result;
}

Result<void> Verifier::verify_case(const Operation& operation, int variant, int case_index) {
  const Combination combination{case_index, Regime::ordinary, LayoutStyle::packed, false};
  const RunResult reference = TRY(run(operation, operation.reference(), combination, 1));
  TRY(compare_with_reference(operation, variant, combination, reference));
  return {};
}

VerifyRow Verifier::verify_gradient(const Operation& operation, std::span<const Operation* const> operations) {
  VerifyRow row;
  row.operation = operation.name;
  row.variant = "gradient";
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::gradient) continue;
    ++row.cases;
    Context context{*workers_[0], {}};
    const Result<double> worst = check_gradient(operation, operations, static_cast<int>(index), options_.seed, context);
    if (worst.ok()) {
      row.worst_epsilons = std::max(row.worst_epsilons, worst.value());
    } else {
      record_failure(row, "case '" + operation.cases[index].name + "'", worst.error().text());
    }
  }
  if (row.cases == 0) record_failure(row, std::string(operation.name), "expected a gradient case, found none");
  return row;
}

}  // namespace ingot
