#include "profile/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace ingot {

struct Benchmark::Candidate {
  int variant;
  int iterations = 1;
  BenchmarkRow row;
  std::unique_ptr<Recording> calls = nullptr;  // as many as `recorded`, for a device
  int recorded = 0;
};

// What a case is timed on: the tensors of the host, or copies of them on a device.
struct Benchmark::Stage {
  const Invocation* of_host;
  std::span<std::byte> scratch;
  std::optional<DeviceCopies> of_device;
};

namespace {

constexpr double most_recorded = 512;  // calls

double nanoseconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Benchmark::Benchmark(const KernelTable& table, const Peaks& peaks, Bytes cache, BenchmarkOptions options,
                     Verifier verifier, std::unique_ptr<Workers> workers, std::unique_ptr<Workers> single)
    : table_(table),
      peaks_(peaks),
      cache_(cache),
      options_(std::move(options)),
      verifier_(std::move(verifier)),
      workers_(std::move(workers)),
      single_(std::move(single)) {}

Result<Benchmark> Benchmark::create(const Machine& machine, const KernelTable& table, const Peaks& peaks,
                                    BenchmarkOptions options) {
  VerifyOptions verify_options;
  verify_options.seed = options.seed;
  Verifier verifier = TRY(Verifier::create(machine.features, verify_options));
  auto workers = TRY(Workers::create({.threads = options.threads}));
  auto single = TRY(Workers::create({.threads = 1}));
  return Benchmark(table, peaks, machine.cache_bytes(2), std::move(options), std::move(verifier), std::move(workers),
                   std::move(single));
}

Result<Benchmark> Benchmark::create(DeviceClock& clock, const KernelTable& table, const Peaks& peaks,
                                    BenchmarkOptions options) {
  options.threads = 1;
  VerifyOptions verify_options;
  verify_options.seed = options.seed;
  Verifier verifier = TRY(Verifier::create(clock.device(), verify_options));
  auto workers = TRY(Workers::create({.threads = 1}));
  auto single = TRY(Workers::create({.threads = 1}));
  Benchmark benchmark(table, peaks, Bytes(0), std::move(options), std::move(verifier), std::move(workers),
                      std::move(single));
  benchmark.clock_ = &clock;
  return benchmark;
}

std::vector<BenchmarkRow> Benchmark::run(const Operation& operation) {
  std::vector<BenchmarkRow> rows;
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::benchmark) continue;
    std::vector<BenchmarkRow> more = run_case(operation, static_cast<int>(index));
    std::move(more.begin(), more.end(), std::back_inserter(rows));
    if (options_.quick) break;
  }
  return rows;
}

std::vector<Benchmark::Candidate> Benchmark::candidates_of(const Operation& operation, int case_index,
                                                           const Invocation& invocation,
                                                           std::vector<BenchmarkRow>& failed) {
  std::vector<Candidate> candidates;
  const int chosen = table_.choose(operation, invocation);
  for (int variant : table_.available(operation.name)) {
    const VariantInformation& information = operation.variants[static_cast<std::size_t>(variant)];
    if (!invocation.accepts(variant)) continue;
    if (!options_.variant.empty() && options_.variant != information.name) continue;
    if (options_.quick && options_.variant.empty() && variant != chosen && variant != operation.reference()) continue;
    BenchmarkRow row;
    row.operation = operation.name;
    row.variant = information.name;
    row.shape = operation.cases[static_cast<std::size_t>(case_index)].name;
    row.threads = options_.threads;
    row.selected = variant == chosen;
    row.cost = invocation.cost();
    row.arithmetic = arithmetic_of(operation, invocation);
    const Result<void> parity = verifier_.verify_case(operation, variant, case_index);
    if (parity.ok()) {
      candidates.push_back({.variant = variant, .row = std::move(row)});
    } else {
      row.failure = "parity: " + std::string(parity.error().text());
      failed.push_back(std::move(row));
    }
  }
  return candidates;
}

Result<Benchmark::Stage> Benchmark::set_up(const Operation& operation, const Invocation& invocation,
                                           const std::vector<Candidate>& candidates) {
  std::size_t scratch_bytes = 0;
  for (const Candidate& candidate : candidates) {
    scratch_bytes = std::max({scratch_bytes, invocation.scratch_bytes(candidate.variant, options_.threads),
                              invocation.scratch_bytes(candidate.variant, 1)});
  }
  Stage stage{&invocation, {}, {}};
  if (clock_ != nullptr) {
    stage.of_device = TRY(DeviceCopies::make(clock_->device(), clock_->queue(), operation, invocation, scratch_bytes));
    stage.scratch = stage.of_device->scratch();
    return stage;
  }
  if (scratch_.size() < scratch_bytes) scratch_ = TRY(Memory::allocate(Bytes(scratch_bytes)));
  stage.scratch = scratch_.bytes();
  return stage;
}

std::vector<BenchmarkRow> Benchmark::run_case(const Operation& operation, int case_index) {
  CaseBuilder builder(options_.seed, Regime::ordinary, LayoutStyle::packed, 0);
  const std::unique_ptr<Invocation> invocation = operation.build(case_index, builder);
  std::vector<BenchmarkRow> rows;
  std::vector<Candidate> candidates = candidates_of(operation, case_index, *invocation, rows);
  Result<Stage> stage = set_up(operation, *invocation, candidates);
  if (stage.ok()) {
    time_candidates(candidates, stage.value());
  } else {
    for (Candidate& candidate : candidates) candidate.row.failure = stage.error().text();
  }

  const std::vector<double>* reference = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.variant == operation.reference() && !candidate.row.samples.empty()) {
      reference = &candidate.row.samples;
    }
  }
  for (Candidate& candidate : candidates) {
    if (stage.ok() && stage.value().of_device) candidate.row.copies = stage.value().of_device->count();
    finish(candidate.row, reference);
  }
  for (Candidate& candidate : candidates) rows.push_back(std::move(candidate.row));
  return rows;
}

// Rounds go through all candidates before the next round starts, so that a slow spell of the machine hits all alike.
void Benchmark::time_candidates(std::vector<Candidate>& candidates, Stage& stage) {
  const double sample_nanoseconds = options_.quick ? 1e6 : 4e6;
  const int rounds = options_.fixed_iterations > 0 ? 1 : options_.quick ? 7 : 25;
  for (Candidate& candidate : candidates) {
    if (!candidate.row.failure.empty()) continue;
    if (options_.fixed_iterations > 0) {
      candidate.iterations = options_.fixed_iterations;
      continue;
    }
    time_once(candidate, stage, *workers_, 1);  // warm-up: page faults, caches, worker wake-up, a device's modules
    const double once = time_once(candidate, stage, *workers_, 1);
    const double most = clock_ != nullptr ? most_recorded : 1e6;
    candidate.iterations = static_cast<int>(std::clamp(sample_nanoseconds / std::max(once, 1.0), 1.0, most));
  }
  for (int round = 0; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      if (!candidate.row.failure.empty()) continue;
      // A call that takes longer than ten samples is timed thrice, not for minutes.
      if (round >= 3 && candidate.row.samples.front() > 10 * sample_nanoseconds) continue;
      candidate.row.samples.push_back(time_once(candidate, stage, *workers_, candidate.iterations));
    }
  }
  if (options_.threads == 1 || options_.fixed_iterations > 0) return;
  for (Candidate& candidate : candidates) {
    if (candidate.row.failure.empty()) candidate.row.parallel_efficiency = efficiency_of(candidate, stage);
  }
}

double Benchmark::time_once(Candidate& candidate, Stage& stage, Workers& workers, int iterations) {
  if (clock_ != nullptr) {
    const Result<double> seconds = time_on_device(candidate, stage, workers, iterations);
    if (!seconds.ok()) candidate.row.failure = seconds.error().text();
    return seconds.ok() ? 1e9 * seconds.value() / iterations : 0;
  }
  Context context{workers, stage.scratch};
  const double begin = nanoseconds_now();
  for (int iteration = 0; iteration < iterations; ++iteration) stage.of_host->run(candidate.variant, context);
  return (nanoseconds_now() - begin) / iterations;
}

Result<double> Benchmark::time_on_device(Candidate& candidate, Stage& stage, Workers& workers, int iterations) {
  if (candidate.recorded != iterations) {
    Context context{workers, stage.scratch, &clock_->queue()};
    candidate.calls = TRY(clock_->record([&] {
      for (int iteration = 0; iteration < iterations; ++iteration) {
        stage.of_device->next().run(candidate.variant, context);
      }
    }));
    candidate.recorded = iterations;
    TRY(clock_->seconds_of(*candidate.calls));  // the first time it is still brought to the device
  }
  return clock_->seconds_of(*candidate.calls);
}

double Benchmark::efficiency_of(Candidate& candidate, Stage& stage) {
  std::vector<double> single;
  for (int round = 0; round < 3; ++round) {
    single.push_back(time_once(candidate, stage, *single_, candidate.iterations));
  }
  return summarise(single).median / (options_.threads * summarise(candidate.row.samples).median);
}

void Benchmark::finish(BenchmarkRow& row, const std::vector<double>* reference) const {
  if (row.samples.empty() || !row.failure.empty()) return;
  row.summary = summarise(row.samples);
  row.median_interval = bootstrap_median(row.samples, options_.seed);
  row.gflops = row.cost.operations / row.summary.median;
  row.gbytes_per_second = row.cost.bytes() / row.summary.median;
  if (clock_ != nullptr) row.copy_percent = 1e11 * row.gbytes_per_second / peaks_.copy_bytes_per_second;
  row.roofline = roofline_of(row.cost, row.arithmetic, peaks_, cache_);
  row.roofline_percent = 100 * row.roofline.least_seconds * 1e9 / row.summary.median;
  row.over_reference.speedup = 0;
  if (reference != nullptr) row.over_reference = compare_samples(*reference, row.samples);
}

}  // namespace ingot
