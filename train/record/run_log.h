// The log of a run: one JSON object a line and a step, for people, plots and other programs.
//
//   {"step":12,"loss":5.25,"gradient_norm":1.5,"learning_rate":0.0006,"tokens":98304,"tokens_per_second":41000.5}
//
// validation_loss follows where the step was validated. Numbers are exact; one that is not finite is null, because JSON
// has no word for it. Steps ascend. A last line that a crash tore off counts as not written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace ingot {

struct RunStep {
  std::int64_t step = 0;  // updates done, this one included: the first is 1
  double loss = 0;
  double gradient_norm = 0;
  double learning_rate = 0;
  std::int64_t tokens = 0;  // learnt from since the run began
  double tokens_per_second = 0;
  std::optional<double> validation_loss;

  bool operator==(const RunStep&) const = default;
};

// A line that is not the last and not of this form is an error. A file without any bytes has no steps.
Result<std::vector<RunStep>> read_run_log(const std::string& path);

class RunLog {
 public:
  // Takes up the log of a run whose checkpoint was written after `resumed_step` updates: lines of later steps, and a
  // torn last one, are cut before anything is added, by replacing the file. A new run resumes after step 0. A file that
  // is there and is no log is refused, not overwritten.
  static Result<RunLog> open(const std::string& path, std::int64_t resumed_step = 0);

  RunLog(RunLog&& other) noexcept;
  RunLog& operator=(RunLog&&) = delete;
  ~RunLog();

  // The line is with the operating system when this returns. After a failure the log ends where it did before.
  Result<void> append(const RunStep& step);

  // All steps, those kept from before and those appended.
  std::span<const RunStep> steps() const { return steps_; }

 private:
  RunLog(std::string path, int descriptor, std::int64_t length, std::vector<RunStep> steps);

  std::string path_;
  int descriptor_;
  std::int64_t length_;  // bytes of whole lines
  std::vector<RunStep> steps_;
};

}  // namespace ingot
