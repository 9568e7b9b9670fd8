// Histogram: how many observations lie below each of some bounds. Observed by one thread, read by another; what is read
// is at most an observation behind.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

class Histogram {
 public:
  // Bounds ascend; the last bucket, without one, is added.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1) {}

  void observe(double value);

  std::span<const double> bounds() const { return bounds_; }
  // Of observations up to a bound and above the one before it; the last: above all bounds.
  std::int64_t count(std::size_t bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::vector<std::atomic<std::int64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

}  // namespace ingot
