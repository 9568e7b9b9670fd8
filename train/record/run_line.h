// One line of a run's log.
#pragma once

#include <string>
#include <string_view>

#include "train/record/run_log.h"

namespace ingot {

// Without the end of the line.
std::string run_line(const RunStep& step);

// Fields that are not known are skipped; step and loss must be there.
Result<RunStep> read_run_line(std::string_view line);

}  // namespace ingot
