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
  // In a full run every case touches both guards, and each with several threads in every second case.
  Placement placement() const {
    if (style == LayoutStyle::misaligned) return Placement::kept;
    const int turn = case_index + static_cast<int>(regime) + (style == LayoutStyle::padded ? 1 : 0);
    return turn % 2 == 0 ? Placement::behind : Placement::before;
  }
};

// The data of a combination: runs get copies of it.
struct Verifier::Prototype {
  std::unique_ptr<CaseBuilder> builder;  // owns the memory that the invocation points to
  std::unique_ptr<Invocation> invocation;
};

struct Verifier::Expected {
  GuardedCall call;
  // As they were before the run, which changes states.
  Tolerance tolerance;
  std::vector<double> least_scales;  // of each written tensor
};

// What a watchdog may tell of an operation that does not come to its end.
struct Verifier::Progress {
  std::vector<VerifyRow> rows;
  std::string operation;
  bool is_gradient = false;

  std::vector<VerifyRow> rows_with(const StuckRun& stuck, std::uint64_t seed) const;
};

namespace {

constexpr std::uint8_t reference_poison = 0xa5;
constexpr std::uint8_t variant_poison = 0x5a;

constexpr const char* not_asked_for = "not asked for";
constexpr const char* elsewhere = "runs in another place";

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

// A worker's rows take all that contracts allow, as the reference does.
bool takes(const Invocation& invocation, int variant) {
  return variant == accelerator_row || invocation.accepts(variant);
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

std::vector<VerifyRow> Verifier::Progress::rows_with(const StuckRun& stuck, std::uint64_t seed) const {
  VerifyRow failed;
  failed.operation = operation;
  failed.variant = is_gradient ? "gradient" : stuck.variant;
  std::vector<VerifyRow> told;
  for (const VerifyRow& row : rows) {
    if (row.variant == failed.variant) {
      failed = row;
      continue;
    }
    told.push_back(row);
    if (is_gradient || row.status != VerifyStatus::passed) continue;
    told.back().status = VerifyStatus::skipped;
    told.back().detail = "not finished, because of " + stuck.variant;
  }
  failed.status = VerifyStatus::failed;
  failed.detail = stuck.where + (is_gradient ? ", " + stuck.operation : "") + ": " + stuck.why +
                  "; alone: ingot verify " + operation + (is_gradient ? "" : " --variant " + stuck.variant) +
                  " --seed " + std::to_string(seed);
  told.push_back(std::move(failed));
  return told;
}

Verifier::Verifier(const Processor& processor, VerifyOptions options, std::vector<std::unique_ptr<Workers>> workers)
    : processor_(processor),
      options_(std::move(options)),
      workers_(std::move(workers)),
      progress_(std::make_unique<Progress>()),
      ground_(std::make_unique<ProvingGround>()) {
  if (!options_.on_stuck) return;
  ground_->watchdog =
      std::make_unique<Watchdog>(std::chrono::duration<double>(options_.limit_seconds),
                                 [progress = progress_.get(), on_stuck = options_.on_stuck, seed = options_.seed](
                                     const StuckRun& stuck) { on_stuck(progress->rows_with(stuck, seed)); });
}
Verifier::Verifier(Verifier&&) noexcept = default;
Verifier::~Verifier() = default;

Result<Verifier> Verifier::create_for(const Processor& processor, VerifyOptions options) {
  std::vector<std::unique_ptr<Workers>> workers;
  for (int threads = 1; threads <= 3; ++threads) workers.push_back(TRY(Workers::create({.threads = threads})));
  return Verifier(processor, std::move(options), std::move(workers));
}

Result<Verifier> Verifier::create(FeatureSet features, VerifyOptions options) {
  return create_for(features, std::move(options));
}

Result<Verifier> Verifier::create(Device& device, VerifyOptions options) {
  const DeviceInformation& information = device.information();
  Verifier verifier = TRY(create_for(processor_of(information), std::move(options)));
  verifier.ground_->device = &device;
  verifier.ground_->queue = TRY(device.make_queue());
  return verifier;
}

Result<Verifier> Verifier::create(Device& accelerator, std::unique_ptr<Queue> queue, CallQueue& calls,
                                  VerifyOptions options) {
  Verifier verifier = TRY(create_for(Processor::device({}, false), std::move(options)));
  verifier.ground_->device = &accelerator;
  verifier.ground_->queue = std::move(queue);
  verifier.ground_->calls = &calls;
  return verifier;
}

std::vector<VerifyRow> Verifier::verify(const Operation& operation, std::span<const Operation* const> operations) {
  *progress_ = {{}, std::string(operation.name)};
  verify_variants(operation);
  // Derivatives are the operation's: they are checked once, on the host.
  if (!operation.backward.empty() && options_.variant.empty() && !processor_.is_device) {
    progress_->is_gradient = true;
    progress_->rows.push_back(verify_gradient(operation, operations));
  }
  return std::move(progress_->rows);
}

int Verifier::variant_of(std::size_t row) const {
  return ground_->calls != nullptr ? accelerator_row : static_cast<int>(row);
}

void Verifier::begin_rows(const Operation& operation) {
  std::vector<VerifyRow>& rows = progress_->rows;
  if (ground_->calls != nullptr) {
    rows.emplace_back();
    rows.back().operation = operation.name;
    rows.back().variant = accelerator_row_name;
    return;
  }
  for (const VariantInformation& variant : operation.variants) {
    VerifyRow row;
    row.operation = operation.name;
    row.variant = variant.name;
    const Availability state = availability(variant, processor_);
    if (!options_.variant.empty() && options_.variant != variant.name) {
      row.status = VerifyStatus::skipped;
      row.detail = not_asked_for;
    } else if (state == Availability::elsewhere) {
      row.status = VerifyStatus::skipped;
      row.detail = elsewhere;
    } else if (state == Availability::not_built) {
      row.status = VerifyStatus::skipped;
      row.detail = processor_.is_device ? "not built into this program" : "not built for this architecture";
    } else if (state == Availability::lacks_features) {
      row.status = VerifyStatus::skipped;
      row.detail =
          processor_.is_emulated ? "compiled only: beyond what is emulated" : "this machine lacks a feature it needs";
    }
    rows.push_back(std::move(row));
  }
}

void Verifier::verify_variants(const Operation& operation) {
  begin_rows(operation);
  std::vector<VerifyRow>& rows = progress_->rows;
  auto is_excluded = [&](Regime regime) {
    return std::any_of(operation.excluded_regimes.begin(), operation.excluded_regimes.end(),
                       [&](const ExcludedRegime& excluded) { return excluded.regime == regime; });
  };
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::parity) continue;
    const int case_index = static_cast<int>(index);
    for (LayoutStyle style : {LayoutStyle::packed, LayoutStyle::padded, LayoutStyle::misaligned}) {
      if (options_.reduced && style == LayoutStyle::padded && index % 2 == 0) continue;
      verify_combination(operation, {case_index, Regime::ordinary, style, style == LayoutStyle::packed});
    }
    for (Regime regime : {Regime::large, Regime::tiny, Regime::specials, Regime::zeros}) {
      if (is_excluded(regime) || (options_.reduced && index % 3 != 0)) continue;
      verify_combination(operation, {case_index, regime, LayoutStyle::packed, false});
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
  // Of no interest here. (A variant's name must exist somewhere; the caller checks that before it starts.)
  std::erase_if(rows, [](const VerifyRow& row) { return row.detail == not_asked_for || row.detail == elsewhere; });
}

void Verifier::verify_combination(const Operation& operation, const Combination& combination) {
  const auto is_open = [](const VerifyRow& row) { return row.status == VerifyStatus::passed; };
  if (std::none_of(progress_->rows.begin(), progress_->rows.end(), is_open)) return;  // all have failed, or are skipped
  const std::string where = combination.describe(operation);
  const Result<Expected> expected = run_reference(operation, combination);
  const Result<Prototype> prototype = build(operation, combination, variant_poison);
  for (std::size_t index = 0; index < progress_->rows.size(); ++index) {
    VerifyRow& row = progress_->rows[index];
    if (row.status != VerifyStatus::passed) continue;
    if (!expected.ok() || !prototype.ok()) {
      record_failure(row, where, (expected.ok() ? prototype.error() : expected.error()).text());
      continue;
    }
    const int variant = variant_of(index);
    if (!takes(expected.value().call.invocation(), variant)) continue;
    ++row.cases;
    const Result<double> worst =
        compare_with_reference(operation, variant, combination, prototype.value(), expected.value());
    if (worst.ok()) {
      row.worst_epsilons = std::max(row.worst_epsilons, worst.value());
    } else {
      record_failure(row, where, worst.error().text());
    }
  }
}

Result<double> Verifier::compare_with_reference(const Operation& operation, int variant, const Combination& combination,
                                                const Prototype& prototype, const Expected& expected) {
  const GuardedCall single = TRY(run(operation, variant, combination, prototype, 1));
  const std::vector<ConstAnyView> wanted = written_tensors(operation, expected.call.invocation());
  const std::vector<ConstAnyView> found = written_tensors(operation, single.invocation());
  double worst = 0;
  for (std::size_t index = 0; index < wanted.size(); ++index) {
    Tolerance tolerance = expected.tolerance;
    tolerance.least_scale = expected.least_scales[index];
    const Comparison comparison = compare_outputs(wanted[index], found[index], tolerance);
    if (!comparison.within_tolerance) return failure(comparison.mismatch);
    worst = std::max(worst, comparison.worst_epsilons);
  }
  if (combination.check_threads) TRY(compare_disturbed(operation, variant, combination, prototype, single));
  return worst;
}

Result<void> Verifier::compare_disturbed(const Operation& operation, int variant, const Combination& combination,
                                         const Prototype& prototype, const GuardedCall& quiet) {
  const std::vector<ConstAnyView> wanted = written_tensors(operation, quiet.invocation());
  auto compare = [&](const GuardedCall& again, std::string_view how) -> Result<void> {
    const std::vector<ConstAnyView> found = written_tensors(operation, again.invocation());
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      if (bit_equal(wanted[index], found[index])) continue;
      return failure(text_of("expected the same bits ", how, ", found others").view());
    }
    return {};
  };
  if (variant != accelerator_row && !operation.variants[static_cast<std::size_t>(variant)].is_of_device) {
    for (int threads = 2; threads <= (options_.reduced ? 2 : 3); ++threads) {
      const GuardedCall several = TRY(run(operation, variant, combination, prototype, threads));
      TRY(compare(several, text_of("from ", threads, " threads as from one").view()));
    }
    return {};
  }
  Device& device = *ground_->device;
  for (int turn = 0; turn <= (options_.reduced ? 1 : device.disturbances()); ++turn) {
    TRY(device.disturb(turn));
    Result<GuardedCall> disturbed = run(operation, variant, combination, prototype, 1);
    TRY(device.disturb(0));
    if (!disturbed.ok()) return disturbed.error();
    TRY(compare(disturbed.value(), text_of("when the device is disturbed (turn ", turn, ")").view()));
  }
  return {};
}

Result<Verifier::Prototype> Verifier::build(const Operation& operation, const Combination& combination,
                                            std::uint8_t poison) const {
  // A seed per case, so that a failure can be repeated alone; the same for every variant, so that all see equal data.
  const std::uint64_t seed = options_.seed * 1000003 + static_cast<std::uint64_t>(combination.case_index);
  Prototype prototype;
  prototype.builder = std::make_unique<CaseBuilder>(seed, combination.regime, combination.style, poison);
  prototype.invocation = operation.build(combination.case_index, *prototype.builder);
  const Result<void> checked = prototype.invocation->check();
  if (!checked.ok()) return checked.error().within("the case breaks its own contract");
  return prototype;
}

Result<Verifier::Expected> Verifier::run_reference(const Operation& operation, const Combination& combination) {
  const Prototype prototype = TRY(build(operation, combination, reference_poison));
  const Tolerance tolerance = prototype.invocation->tolerance();
  std::vector<double> scales = least_scales(operation, *prototype.invocation, tolerance);
  return Expected{TRY(run(operation, operation.reference(), combination, prototype, 1)), tolerance, std::move(scales)};
}

Result<GuardedCall> Verifier::run(const Operation& operation, int variant, const Combination& combination,
                                  const Prototype& prototype, int threads) {
  GuardedCall call = TRY(GuardedCall::make(*ground_, operation, *prototype.invocation, combination.placement(),
                                           combination.describe(operation)));
  if (takes(call.invocation(), variant)) TRY(call.run(variant, *workers_[static_cast<std::size_t>(threads - 1)]));
  return call;
}

Result<void> Verifier::verify_case(const Operation& operation, int variant, int case_index) {
  const Combination combination{case_index, Regime::ordinary, LayoutStyle::packed, false};
  const Expected expected = TRY(run_reference(operation, combination));
  const Prototype prototype = TRY(build(operation, combination, variant_poison));
  TRY(compare_with_reference(operation, variant, combination, prototype, expected));
  return {};
}

VerifyRow Verifier::verify_gradient(const Operation& operation, std::span<const Operation* const> operations) {
  VerifyRow row;
  row.operation = operation.name;
  row.variant = "gradient";
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::gradient) continue;
    ++row.cases;
    const Result<double> worst =
        check_gradient(operation, operations, static_cast<int>(index), options_.seed, *workers_[0], *ground_);
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
