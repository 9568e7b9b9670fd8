// verify: every variant of every operation against its scalar reference, on fresh random and adversarial cases.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/operation.h"
#include "machine/memory.h"
#include "machine/workers.h"

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
};

class Verifier {
 public:
  static Result<Verifier> create(FeatureSet features, VerifyOptions options);

  // A row per variant, then one for the gradient where the operation has a backward. `operations` is where backward
  // operations are looked up.
  std::vector<VerifyRow> verify(const Operation& operation, std::span<const Operation* const> operations);

  // One benchmark-sized case of one variant on ordinary data; used before a timing is shown.
  Result<void> verify_case(const Operation& operation, int variant, int case_index);

 private:
  struct Combination;
  struct RunResult;
  Verifier(FeatureSet features, VerifyOptions options, std::vector<std::unique_ptr<Workers>> workers);

  std::vector<VerifyRow> verify_variants(const Operation& operation);
  VerifyRow verify_gradient(const Operation& operation, std::span<const Operation* const> operations);
  Result<RunResult> run(const Operation& operation, int variant, const Combination& combination, int threads);
  void verify_combination(const Operation& operation, const Combination& combination, std::vector<VerifyRow>& rows);
  Result<double> compare_with_reference(const Operation& operation, int variant, const Combination& combination,
                                        const RunResult& reference);
  std::span<std::byte> scratch(std::size_t bytes);

  FeatureSet features_;
  VerifyOptions options_;
  std::vector<std::unique_ptr<Workers>> workers_;  // of 1, 2 and 3 threads
  Memory scratch_;
};

}  // namespace ingot
