#include "engine/pass_costs.h"

#include <algorithm>
#include <bit>

namespace ingot {
namespace {

// How much the latest measurement weighs: a few passes forget a neighbour that has gone.
constexpr double weight_of_latest = 0.25;
// A pass without rows takes no time: so much of all that was measured says so. Passes of nearly one length tell nothing
// of what lies between them and nothing at all, and by their noise alone the line could have any slope.
constexpr double weight_of_origin = 0.02;

void mix(double& mean, double latest) { mean = mean == 0 ? latest : mean + weight_of_latest * (latest - mean); }

}  // namespace

std::size_t PassCosts::class_of(std::int64_t rows) {
  return std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(rows)), classes - 1);
}

void PassCosts::observe(std::int64_t decoding_rows, std::int64_t prompt_rows, double seconds) {
  if (prompt_rows == 0) {
    if (decoding_rows > 0) mix(decoding_seconds_[class_of(decoding_rows)], seconds);
    return;
  }
  const auto rows = static_cast<double>(decoding_rows + prompt_rows);
  const auto add = [](double& sum, double latest) { sum = (1 - weight_of_latest) * sum + latest; };
  add(sums_.weight, 1);
  add(sums_.rows, rows);
  add(sums_.squares, rows * rows);
  add(sums_.seconds, seconds);
  add(sums_.products, rows * seconds);
}

double PassCosts::affordable_rows(double seconds) const {
  if (sums_.weight == 0) return 0;
  const double weight = (1 + weight_of_origin) * sums_.weight;
  const double mean_rows = sums_.rows / weight, mean_seconds = sums_.seconds / weight;
  double each = (sums_.products - mean_rows * sums_.seconds) / (sums_.squares - mean_rows * sums_.rows);
  double fixed = mean_seconds - each * mean_rows;
  // No pass is cheaper for having been begun: then longer ones were dearer for another reason, as a deeper past.
  if (each <= 0 || fixed < 0) {
    each = sums_.seconds / sums_.rows;
    fixed = 0;
  }
  return std::max(0.0, (seconds - fixed) / each);
}

double PassCosts::decoding_seconds(std::int64_t decoding_rows) const {
  if (decoding_rows <= 0) return 0;
  // Where its own class was never measured, the nearest below: more rows take longer, so this promises too little time
  // rather than too much; and above, where nothing is known below.
  const std::size_t own = class_of(decoding_rows);
  for (std::size_t at = own + 1; at-- > 0;) {
    if (decoding_seconds_[at] > 0) return decoding_seconds_[at];
  }
  for (std::size_t at = own; at < classes; ++at) {
    if (decoding_seconds_[at] > 0) return decoding_seconds_[at];
  }
  return 0;
}

}  // namespace ingot
