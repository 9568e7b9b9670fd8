// benchmark: times verified variants on their operations' benchmark cases, interleaved in one run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/table.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/peaks.h"
#include "profile/device_clock.h"
#include "profile/device_copies.h"
#include "profile/roofline.h"
#include "profile/statistics.h"
#include "profile/verify.h"

namespace ingot {

struct BenchmarkOptions {
  int threads = 1;
  bool quick = false;        // one case an operation, fewer and shorter samples
  int fixed_iterations = 0;  // instead of timing: run exactly this often, for instruction counters
  std::string variant = {};  // only this one; empty: all
  std::uint64_t seed = 1;
};

struct BenchmarkRow {
  std::string operation;
  std::string variant;
  std::string shape;  // the case's name
  int threads = 1;
  bool selected = false;        // what the table chooses for this case
  std::vector<double> samples;  // nanoseconds a call
  Summary summary;
  Interval median_interval;  // 95 percent
  Cost cost;
  Arithmetic arithmetic = Arithmetic::f32;
  Roofline roofline;
  double gflops = 0;
  double gbytes_per_second = 0;
  double roofline_percent = 0;
  double copy_percent = 0;         // of the rate at which a device copies; 0 on the host
  std::size_t copies = 1;          // of the tensors, used in turn
  double parallel_efficiency = 0;  // time on one thread over threads times this time; 0 where threads is 1
  Difference over_reference;       // against the reference of the same case; speedup 0 where it was not timed
  std::string failure;             // why there is no number: parity failed, or a device did
};

class Benchmark {
 public:
  static Result<Benchmark> create(const Machine& machine, const KernelTable& table, const Peaks& peaks,
                                  BenchmarkOptions options);
  // Of the rows of a device. Preconditions: the clock outlives the benchmark; table and peaks are the device's.
  static Result<Benchmark> create(DeviceClock& clock, const KernelTable& table, const Peaks& peaks,
                                  BenchmarkOptions options);

  // Rows for every available variant of the operation. A variant that fails parity gets a row with its failure and no
  // number.
  std::vector<BenchmarkRow> run(const Operation& operation);

 private:
  struct Candidate;
  struct Stage;
  Benchmark(const KernelTable& table, const Peaks& peaks, Bytes cache, BenchmarkOptions options, Verifier verifier,
            std::unique_ptr<Workers> workers, std::unique_ptr<Workers> single);

  std::vector<BenchmarkRow> run_case(const Operation& operation, int case_index);
  std::vector<Candidate> candidates_of(const Operation& operation, int case_index, const Invocation& invocation,
                                       std::vector<BenchmarkRow>& failed);
  Result<Stage> set_up(const Operation& operation, const Invocation& invocation,
                       const std::vector<Candidate>& candidates);
  void time_candidates(std::vector<Candidate>& candidates, Stage& stage);
  // Nanoseconds a call; where a device fails, the candidate's row says so.
  double time_once(Candidate& candidate, Stage& stage, Workers& workers, int iterations);
  Result<double> time_on_device(Candidate& candidate, Stage& stage, Workers& workers, int iterations);
  double efficiency_of(Candidate& candidate, Stage& stage);
  void finish(BenchmarkRow& row, const std::vector<double>* reference) const;

  const KernelTable& table_;
  Peaks peaks_;
  Bytes cache_;  // that tensors may be found in; none of a device, where they are used in turn
  BenchmarkOptions options_;
  Verifier verifier_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Workers> single_;
  Memory scratch_;
  DeviceClock* clock_ = nullptr;  // of the device; null on the host
};

}  // namespace ingot
