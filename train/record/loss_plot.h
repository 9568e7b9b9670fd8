// The curves of a run as one page: training and validation loss, learning rate, gradient norm, and how far it is. The
// page needs nothing but itself, follows the reader's choice of light or dark, and while the run is live loads itself
// anew every few seconds. It stays small however long the run: curves are thinned to about a thousand points.
#pragma once

#include <span>
#include <string>

#include "train/record/run_log.h"

namespace ingot {

enum class RunState : std::uint8_t { live, finished, stopped };

struct RunHeading {
  std::string title;
  std::int64_t steps = 0;  // of the whole run
  RunState state = RunState::live;
};

// Numbers that are not finite are left out of the curves and counted in a warning.
std::string loss_plot_html(const RunHeading& heading, std::span<const RunStep> steps);

// Replaces the page as a whole: a browser never sees half of one.
Result<void> write_loss_plot(const std::string& path, const RunHeading& heading, std::span<const RunStep> steps);

}  // namespace ingot
