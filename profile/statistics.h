// What a list of timings says, and whether two lists differ. Timings are skewed (a neighbour only ever makes them
// longer), so medians and ranks are used where means would mislead; mean and deviation are reported beside them.
#pragma once

#include <cstdint>
#include <span>

namespace ingot {

struct Summary {
  double mean = 0;
  double deviation = 0;  // of the sample (n - 1)
  double minimum = 0;
  double maximum = 0;
  double median = 0;
  double spread = 0;  // half the interquartile range over the median: the typical relative wobble
};

// Precondition: samples is not empty.
Summary summarise(std::span<const double> samples);

struct Interval {
  double low = 0;
  double high = 0;
};

// 95% bootstrap interval of the median: the percentiles of medians of resampled lists. Deterministic for a seed.
Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed = 1, int resamples = 1000);

struct Difference {
  double speedup = 1;      // median of the baseline over median of the candidate
  double probability = 1;  // two-sided p-value: how often equal distributions would look this different
  bool significant = false;
};

// Mann-Whitney U test (normal approximation with tie correction): asks whether one list tends to be smaller, and
// assumes nothing about the shape of either.
Difference compare_samples(std::span<const double> baseline, std::span<const double> candidate, double level = 0.05);

}  // namespace ingot
