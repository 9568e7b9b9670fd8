#include "profile/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ingot {
namespace {

// Linear interpolation between order statistics. Precondition: sorted and not empty.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

Summary summarise(std::span<const double> samples) {
  const std::vector<double> sorted = sorted_copy(samples);
  const auto count = static_cast<double>(sorted.size());
  Summary summary;
  for (double sample : sorted) summary.mean += sample / count;
  double squares = 0;
  for (double sample : sorted) squares += (sample - summary.mean) * (sample - summary.mean);
  summary.deviation = sorted.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  summary.minimum = sorted.front();
  summary.maximum = sorted.back();
  summary.median = quantile(sorted, 0.5);
  if (summary.median > 0) summary.spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / summary.median;
  return summary;
}

Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed, int resamples) {
  std::vector<double> medians;
  std::vector<double> drawn(samples.size());
  std::uint64_t state = seed * 2 + 1;
  for (int round = 0; round < resamples; ++round) {
    for (double& value : drawn) {
      // A 64-bit linear congruential generator; its high bits are good enough to pick an index.
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = samples[static_cast<std::size_t>((state >> 33) % samples.size())];
    }
    std::sort(drawn.begin(), drawn.end());
    medians.push_back(quantile(drawn, 0.5));
  }
  std::sort(medians.begin(), medians.end());
  return {quantile(medians, 0.025), quantile(medians, 0.975)};
}

Difference compare_samples(std::span<const double> baseline, std::span<const double> candidate, double level) {
  Difference difference;
  difference.speedup = summarise(baseline).median / summarise(candidate).median;

  struct Ranked {
    double value;
    bool is_candidate;
  };
  std::vector<Ranked> all;
  for (double value : baseline) all.push_back({value, false});
  for (double value : candidate) all.push_back({value, true});
  std::sort(all.begin(), all.end(), [](const Ranked& left, const Ranked& right) { return left.value < right.value; });

  // Equal values share the mean of their ranks; each tie narrows the variance.
  double rank_sum = 0;
  double tie_term = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].value == all[begin].value) ++end;
    const double shared_rank = (static_cast<double>(begin + end) + 1) / 2;
    for (std::size_t index = begin; index < end; ++index) {
      if (all[index].is_candidate) rank_sum += shared_rank;
    }
    const auto ties = static_cast<double>(end - begin);
    tie_term += ties * ties * ties - ties;
    begin = end;
  }
  const auto first = static_cast<double>(candidate.size());
  const auto second = static_cast<double>(baseline.size());
  const double total = first + second;
  const double u = rank_sum - first * (first + 1) / 2;
  const double variance = first * second / 12 * (total + 1 - tie_term / (total * (total - 1)));
  if (variance <= 0) return difference;                             // every value is the same
  const double distance = std::fabs(u - first * second / 2) - 0.5;  // continuity correction
  difference.probability = std::min(1.0, std::erfc(std::max(distance, 0.0) / std::sqrt(2 * variance)));
  difference.significant = difference.probability < level;
  return difference;
}

}  // namespace ingot
