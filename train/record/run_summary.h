// What the last steps of a run say about the whole of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "train/record/run_log.h"

namespace ingot {

struct RunSummary {
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  std::optional<double> loss;             // a mean of the last steps; none where none is finite
  std::optional<double> validation_loss;  // the last
  std::optional<double> best_validation_loss;
  std::optional<double> tokens_per_second;
  std::optional<double> seconds_left;
  std::int64_t unusable = 0;  // steps whose loss is not finite
};

// `whole` is the number of steps of the whole run.
RunSummary summary_of(std::span<const RunStep> steps, std::int64_t whole);

// 45 s, 3 min 20 s, 2 h 05 min, 3 d 4 h
std::string duration_text(double seconds);

}  // namespace ingot
