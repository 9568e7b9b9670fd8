#include "engine/pass_costs.h"

#include <algorithm>
#include <bit>

namespace ingot {
namespace {

// How much the latest measurement weighs: a few passes forget a neighbour that has gone.
constexpr double weight_of_latest = 0.25;

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
  const double added = seconds - decoding_seconds(decoding_rows);
  // A pass that was faster than the same without prompts says that the expectation is stale, and nothing of prompts.
  if (added > 0) mix(prompt_row_seconds_, added / static_cast<double>(prompt_rows));
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
