#include "profile/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ingot {

struct Benchmark::Candidate {
  int variant;
  int iterations = 1;
  BenchmarkRow row;
};

namespace {

double nanoseconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Benchmark::Benchmark(const Machine& machine, const KernelTable& table, const Peaks& peaks, BenchmarkOptions options,
                     Verifier verifier, std::unique_ptr<Workers> workers, std::unique_ptr<Workers> single)
    : machine_(machine),
      table_(table),
      peaks_(peaks),
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
  return Benchmark(machine, table, peaks, std::move(options), std::move(verifier), std::move(workers),
                   std::move(single));
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

std::vector<BenchmarkRow> Benchmark::run_case(const Operation& operation, int case_index) {
  CaseBuilder builder(options_.seed, Regime::ordinary, LayoutStyle::packed, 0);
  const std::unique_ptr<Invocation> invocation = operation.build(case_index, builder);
  std::vector<Candidate> candidates;
  std::vector<BenchmarkRow> rows;
  std::size_t scratch_bytes = 0;
  const int chosen = table_.choose(operation, *invocation);
  for (int variant : table_.available(operation.name)) {
    const VariantInformation& information = operation.variants[static_cast<std::size_t>(variant)];
    if (!invocation->accepts(variant)) continue;
    if (!options_.variant.empty() && options_.variant != information.name) continue;
    if (options_.quick && options_.variant.empty() && variant != chosen && variant != operation.reference()) continue;
    BenchmarkRow row;
    row.operation = operation.name;
    row.variant = information.name;
    row.shape = operation.cases[static_cast<std::size_t>(case_index)].name;
    row.threads = options_.threads;
    row.selected = variant == chosen;
    row.cost = invocation->cost();
    row.arithmetic = arithmetic_of(operation, *invocation);
    const Result<void> parity = verifier_.verify_case(operation, variant, case_index);
    if (!parity.ok()) {
      row.failure = parity.error().text();
      rows.push_back(std::move(row));
      continue;
    }
    scratch_bytes = std::max(
        {scratch_bytes, invocation->scratch_bytes(variant, options_.threads), invocation->scratch_bytes(variant, 1)});
    candidates.push_back({variant, 1, std::move(row)});
  }
  if (scratch_.size() < scratch_bytes) {
    Result<Memory> memory = Memory::allocate(Bytes(scratch_bytes));
    if (!memory.ok()) {
      for (Candidate& candidate : candidates) candidate.row.failure = memory.error().text();
    } else {
      scratch_ = std::move(memory).value();
    }
  }
  time_candidates(candidates, *invocation);

  const std::vector<double>* reference = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.variant == operation.reference() && !candidate.row.samples.empty()) {
      reference = &candidate.row.samples;
    }
  }
  for (Candidate& candidate : candidates) finish(candidate.row, reference);
  for (Candidate& candidate : candidates) rows.push_back(std::move(candidate.row));
  return rows;
}

// Rounds go through all candidates before the next round starts, so that a slow spell of the machine hits all alike.
void Benchmark::time_candidates(std::vector<Candidate>& candidates, const Invocation& invocation) {
  const double sample_nanoseconds = options_.quick ? 1e6 : 4e6;
  const int rounds = options_.fixed_iterations > 0 ? 1 : options_.quick ? 7 : 25;
  for (Candidate& candidate : candidates) {
    if (!candidate.row.failure.empty()) continue;
    if (options_.fixed_iterations > 0) {
      candidate.iterations = options_.fixed_iterations;
      continue;
    }
    time_once(candidate, invocation, *workers_, 1);  // warm-up: page faults, caches, worker wake-up
    const double once = time_once(candidate, invocation, *workers_, 1);
    candidate.iterations = static_cast<int>(std::clamp(sample_nanoseconds / std::max(once, 1.0), 1.0, 1e6));
  }
  for (int round = 0; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      if (!candidate.row.failure.empty()) continue;
      // A call that takes longer than ten samples is timed thrice, not for minutes.
      if (round >= 3 && candidate.row.samples.front() > 10 * sample_nanoseconds) continue;
      candidate.row.samples.push_back(time_once(candidate, invocation, *workers_, candidate.iterations));
    }
  }
  if (options_.threads == 1 || options_.fixed_iterations > 0) return;
  for (Candidate& candidate : candidates) {
    if (candidate.row.failure.empty()) candidate.row.parallel_efficiency = efficiency_of(candidate, invocation);
  }
}

double Benchmark::time_once(const Candidate& candidate, const Invocation& invocation, Workers& workers,
                            int iterations) {
  Context context{workers, scratch_.bytes()};
  const double begin = nanoseconds_now();
  for (int iteration = 0; iteration < iterations; ++iteration) invocation.run(candidate.variant, context);
  return (nanoseconds_now() - begin) / iterations;
}

double Benchmark::efficiency_of(const Candidate& candidate, const Invocation& invocation) {
  std::vector<double> single;
  for (int round = 0; round < 3; ++round) {
    single.push_back(time_once(candidate, invocation, *single_, candidate.iterations));
  }
  return summarise(single).median / (options_.threads * summarise(candidate.row.samples).median);
}

void Benchmark::finish(BenchmarkRow& row, const std::vector<double>* reference) const {
  if (row.samples.empty()) return;
  row.summary = summarise(row.samples);
  row.median_interval = bootstrap_median(row.samples, options_.seed);
  row.roofline = roofline_of(row.cost, row.arithmetic, peaks_, machine_);
  row.gflops = row.cost.operations / row.summary.median;
  row.gbytes_per_second = row.cost.bytes() / row.summary.median;
  row.roofline_percent = 100 * row.roofline.least_seconds * 1e9 / row.summary.median;
  row.over_reference.speedup = 0;
  if (reference != nullptr) row.over_reference = compare_samples(*reference, row.samples);
}

}  // namespace ingot
