// A model against values recorded from another implementation of it, layer by layer: where do they part?
#pragma once

#include <optional>

#include "engine/session.h"

namespace ingot {

// What was recorded of one sequence (see tests/goldens/README.md): `tokens.0`, `hidden.0.L` (what enters the first
// block and what leaves each), and `logits.0` or `last_hidden.0`.
class Golden {
 public:
  struct Record {
    std::string name;  // "hidden.0.3"
    int layer = -1;    // blocks that have run; -1: the result
    std::vector<float> values;
  };

  static Result<Golden> open(const std::string& path);

  std::span<const std::int32_t> tokens() const { return tokens_; }
  std::span<const Record> records() const { return records_; }  // in the order of a pass

 private:
  std::vector<std::int32_t> tokens_;
  std::vector<Record> records_;
};

struct GoldenCheckpoint {
  std::string name;        // of the record
  std::string makes;       // the tensor that was compared with it
  std::string first_step;  // of the steps that lead here from the checkpoint before
  std::int64_t steps = 0;  // how many those are
  double error = 0;  // the largest difference over the largest recorded magnitude; infinite where one is not a number
  bool diverges = false;
};

struct GoldenComparison {
  std::vector<GoldenCheckpoint> checkpoints;
  std::optional<std::size_t> first_divergence;  // index into checkpoints
};

// Runs the golden's tokens in one pass. Fails where they do not fit the session's chunk, or the shapes differ.
Result<GoldenComparison> compare_with_golden(Session& session, const Golden& golden, double tolerance);

}  // namespace ingot
