// Optimizer: how gradients change parameters, with the memory that it needs beside them.
#pragma once

#include "kernels/contract/table.h"
#include "train/parameters.h"
#include "train/record/configuration.h"

namespace ingot {

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double momentum = 0.9;      // of sgd
  double weight_decay = 0.1;  // of what decays
  double clip_norm = 1;       // 0: gradients are taken as they are
};

// What an optimizer remembers: one number for each of the parameters', under the name of the operation's field.
struct OptimizerMemory {
  std::string_view name;
  Memory memory;
};

class Optimizer {
 public:
  static Result<Optimizer> create(const Parameters& parameters, const OptimizerOptions& options,
                                  const KernelTable& table);

  // One update; `step` counts from 1. Returns the gradients' norm before it was clipped. A norm that is not a number is
  // an error, and nothing has changed.
  Result<double> update(const Parameters& parameters, std::int64_t step, double learning_rate, Workers& workers);

  // What a checkpoint must keep.
  std::span<const OptimizerMemory> memories() const { return memories_; }
  std::size_t bytes() const;

 private:
  Optimizer(const OptimizerOptions& options, const KernelTable& table) : options_(options), table_(&table) {}
  Result<void> run(std::string_view operation, Invocation& invocation, Workers& workers);
  Result<void> update_range(const Parameters& parameters, std::int64_t begin, std::int64_t end, double decay,
                            std::int64_t step, double learning_rate, Workers& workers);

  OptimizerOptions options_;
  const KernelTable* table_;
  std::vector<OptimizerMemory> memories_;
  Memory scratch_;
};

}  // namespace ingot
