// The ladder: one matrix product, from the plain sum to the fastest variant this machine has, a rung at a time, each
// measured and compared with the rung it builds on. docs/learn/ladder.md tells why each rung is where it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/peaks.h"
#include "profile/statistics.h"

namespace ingot {

// y = x W^T with x [rows, depth] and W [columns, depth].
struct LadderShape {
  std::int64_t rows = 64;
  std::int64_t columns = 4096;  // 32 MiB of weights: more than most cores have for themselves
  std::int64_t depth = 2048;    // a multiple of 32
};

struct LadderRung {
  std::string_view name;
  std::string_view builds_on;  // another rung's name; empty for the first
  std::string_view reason;     // what it changes, and what that saves
  std::string variant;         // the row of linear.matmul's table that it runs
  std::string_view weights;    // their type
  int threads = 1;
  Summary nanoseconds = {};    // of the whole product
  double gflops = 0;           // operations of the product, per nanosecond
  double weight_reads = 0;     // how often each weight is read from where it lies
  double gain = 1;             // over the rung it builds on
  std::string_view roof = {};  // what bounds it; empty: its own additions
  double share_of_roof = 0;    // 1 at the bound, as this machine's peaks measure it
};

// Peaks of one thread and of all. A rung whose result is not the contract's is an error. `begin` is told each rung's
// name before it is measured.
struct LadderPeaks {
  Peaks one_thread;
  Peaks all_threads;
};
Result<std::vector<LadderRung>> climb_ladder(const Machine& machine, const LadderPeaks& peaks, int threads,
                                             const LadderShape& shape,
                                             const std::function<void(std::string_view)>& begin);

}  // namespace ingot
