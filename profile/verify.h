// verify: every variant of every operation against its scalar reference, on fresh random and adversarial cases.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/operation.h"
#include "kernels/contract/table.h"
#include "machine/workers.h"
#include "profile/guarded_call.h"

namespace ingot {

enum class VerifyStatus : std::uint8_t { passed, failed, skipped };
std::string_view name_of(VerifyStatus status);

struct VerifyRow {
  std::string operation;
  std::string variant;  // "gradient" for the check of the operation's derivatives
  VerifyStatus status = VerifyStatus::passed;
  double worst_epsilons = 0;  // for "gradient": the worst error relative to the largest gradient
  int cases = 0;              // how many combinations of case, data and layout were run
  std::string detail;         // the first failure, or why it was skipped
};

struct VerifyOptions {
  std::uint64_t seed = 1;
  std::string variant;   // only this one; empty: all
  bool reduced = false;  // fewer combinations, for emulated machines

  double limit_seconds = 60;  // how long one run of a variant may take, where somebody listens; 0: any time
  // Called on a thread of its own with the operation's rows so far, where a variant takes longer or touches memory that
  // is nobody's. Such a variant cannot be stopped, so this has to end the program. Empty: nobody listens.
  std::function<void(const std::vector<VerifyRow>&)> on_stuck;
};

class Verifier {
 public:
  Verifier(Verifier&&) noexcept;
  ~Verifier();
  static Result<Verifier> create(FeatureSet features, VerifyOptions options);
  // Rows of the device alone, against references on the host. Precondition: the device outlives the verifier.
  static Result<Verifier> create(Device& device, VerifyOptions options);
  // One row an operation: what an accelerator's worker computes, by its own rows, of calls that came through its queue.
  // Precondition: `calls` leads into the queue, and outlives the verifier as the accelerator does.
  static Result<Verifier> create(Device& accelerator, std::unique_ptr<Queue> queue, CallQueue& calls,
                                 VerifyOptions options);

  // A row per variant, then one for the gradient where the operation has a backward. `operations` is where backward
  // operations are looked up.
  std::vector<VerifyRow> verify(const Operation& operation, std::span<const Operation* const> operations);

  // One benchmark-sized case of one variant on ordinary data; used before a timing is shown.
  Result<void> verify_case(const Operation& operation, int variant, int case_index);

 private:
  struct Combination;
  struct Prototype;
  struct Expected;
  struct Progress;
  Verifier(const Processor& processor, VerifyOptions options, std::vector<std::unique_ptr<Workers>> workers);
  static Result<Verifier> create_for(const Processor& processor, VerifyOptions options);

  void verify_variants(const Operation& operation);
  void begin_rows(const Operation& operation);
  int variant_of(std::size_t row) const;
  VerifyRow verify_gradient(const Operation& operation, std::span<const Operation* const> operations);
  void verify_combination(const Operation& operation, const Combination& combination);
  Result<Prototype> build(const Operation& operation, const Combination& combination, std::uint8_t poison) const;
  Result<Expected> run_reference(const Operation& operation, const Combination& combination);
  Result<double> compare_with_reference(const Operation& operation, int variant, const Combination& combination,
                                        const Prototype& prototype, const Expected& expected);
  Result<GuardedCall> run(const Operation& operation, int variant, const Combination& combination,
                          const Prototype& prototype, int threads);
  // Bits depend on the arguments alone: not on how many threads there are, nor on what else a device does.
  Result<void> compare_disturbed(const Operation& operation, int variant, const Combination& combination,
                                 const Prototype& prototype, const GuardedCall& quiet);

  Processor processor_;
  VerifyOptions options_;
  std::vector<std::unique_ptr<Workers>> workers_;  // of 1, 2 and 3 threads
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<ProvingGround> ground_;  // last: its watchdog reads the progress
};

}  // namespace ingot
