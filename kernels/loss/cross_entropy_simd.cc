// Vector cross-entropy: a row is read for its maximum and again, from cache, for the sum of exponentials.
#include <algorithm>
#include <cmath>

#include "kernels/loss/class_targets.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loss/cross_entropy_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;

// Calls body(vector index i) over whole vectors of [0, length), then tail(i) over what is left.
template <class Body, class Tail>
HWY_INLINE void for_vectors(std::int64_t length, Body&& body, Tail&& tail) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) body(i);
  for (; i < length; ++i) tail(i);
}

float row_maximum(const float* x, std::int64_t length) {
  const FloatTag d;
  auto largest = hn::Set(d, -HUGE_VALF);
  float rest = -HUGE_VALF;
  for_vectors(
      length, [&](std::int64_t i) { largest = hn::Max(largest, hn::LoadU(d, x + i)); },
      [&](std::int64_t i) { rest = std::fmax(rest, x[i]); });
  return std::fmax(rest, hn::GetLane(hn::MaxOfLanes(d, largest)));
}

// log sum_c exp(x[c] - maximum). A NaN anywhere makes it NaN. Floats are added over stretches only: of the 150,000
// terms of a vocabulary one sum of floats would lose a hundred times what each term does.
double log_of_shifted_sum(const float* x, std::int64_t length, float maximum) {
  constexpr std::int64_t stretch = 1024;
  const FloatTag d;
  const auto shift = hn::Set(d, maximum);
  double total = 0;
  for (std::int64_t begin = 0; begin < length; begin += stretch) {
    auto sum = hn::Zero(d);
    const float* from = x + begin;
    for_vectors(
        std::min(stretch, length - begin),
        [&](std::int64_t i) { sum = hn::Add(sum, exp_of(d, hn::Sub(hn::LoadU(d, from + i), shift))); },
        [&](std::int64_t i) { total += std::exp(double{from[i]} - maximum); });
    total += double{hn::GetLane(hn::SumOfLanes(d, sum))};
  }
  return std::log(total);
}

// sum_c w[c] (maximum - x[c]); every term is non-negative for non-negative weights, so nothing cancels.
double weighted_distance(const float* x, const ClassTargets& targets, std::int64_t length, float maximum) {
  double sum = 0;
  for (std::int64_t c = 0; c < length; ++c) sum += double{targets.weight_of_class(c)} * (double{maximum} - x[c]);
  return sum;
}

void cross_entropy(const CrossEntropy::Arguments& a, Context& context) {
  const ClassTargets targets = class_targets(a);
  const std::int64_t classes = a.logits.size(1);
  double* rows = reinterpret_cast<double*>(context.scratch.data());
  double all_weights = 0;
  for (std::int64_t c = 0; c < classes; ++c) all_weights += targets.weight_of_class(c);
  const std::int64_t chunk = rows_per_chunk(classes * static_cast<std::int64_t>(sizeof(float)));
  context.workers.for_chunks(targets.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* x = a.logits.data() + row * a.logits.stride(0);
      const float maximum = row_maximum(x, classes);
      const double log_sum = log_of_shifted_sum(x, classes, maximum);
      if (is_present(a.log_sum_exp)) a.log_sum_exp(row) = static_cast<float>(maximum + log_sum);
      rows[row] = 0;
      if (targets.is_ignored(row)) continue;
      // lse - x as (maximum - x) + log_sum: the difference of two large numbers is taken before anything is added.
      const double smoothing = a.label_smoothing;
      rows[row] = (1 - smoothing) * targets.weight(row) * ((double{maximum} - x[targets.targets(row)]) + log_sum);
      if (smoothing == 0) continue;
      rows[row] += smoothing / static_cast<double>(classes) *
                   (weighted_distance(x, targets, classes, maximum) + all_weights * log_sum);
    }
  });
  reduce_rows(targets, a.reduction, a.loss, [&](std::int64_t row) { return rows[row]; });
}

// dlogits = g ((1-s) w[t] p + (s/C) W p) - g (s/C) w[c], and the target's own term taken off afterwards.
void backward_row(const float* x, float* dx, std::int64_t length, float lse, float slope, const float* weights,
                  float offset) {
  const FloatTag d;
  const auto shift = hn::Set(d, lse);
  const auto factor = hn::Set(d, slope);
  const auto constant = hn::Set(d, offset);
  for_vectors(
      length,
      [&](std::int64_t i) {
        const auto p = exp_of(d, hn::Sub(hn::LoadU(d, x + i), shift));
        const auto subtracted = weights == nullptr ? constant : hn::Mul(constant, hn::LoadU(d, weights + i));
        hn::StoreU(hn::MulSub(factor, p, subtracted), d, dx + i);
      },
      [&](std::int64_t i) {
        const float subtracted = weights == nullptr ? offset : offset * weights[i];
        dx[i] = slope * std::exp(x[i] - lse) - subtracted;
      });
}

void cross_entropy_backward(const CrossEntropyBackward::Arguments& a, Context& context) {
  const ClassTargets targets = class_targets(a);
  const std::int64_t classes = a.logits.size(1);
  const double divisor = targets.divisor(a.reduction);
  const double share = double{a.label_smoothing} / static_cast<double>(classes);
  double all_weights = 0;
  for (std::int64_t c = 0; c < classes; ++c) all_weights += targets.weight_of_class(c);
  const float* weights = is_present(a.class_weights) ? a.class_weights.data() : nullptr;
  const std::int64_t chunk = rows_per_chunk(2 * classes * static_cast<std::int64_t>(sizeof(float)));
  context.workers.for_chunks(targets.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* x = a.logits.data() + row * a.logits.stride(0);
      float* dx = a.dlogits.data() + row * a.dlogits.stride(0);
      if (targets.is_ignored(row)) {
        std::fill_n(dx, classes, 0.0f);
        continue;
      }
      const double upstream = double{a.reduction == Reduction::none ? a.dloss(row) : a.dloss(0)} / divisor;
      const double hard = (1 - double{a.label_smoothing}) * targets.weight(row);
      const std::int64_t target = targets.targets(row);
      const double target_p = std::exp(double{x[target]} - a.log_sum_exp(row));  // before dx may overwrite x
      backward_row(x, dx, classes, a.log_sum_exp(row), static_cast<float>(upstream * (hard + share * all_weights)),
                   weights, static_cast<float>(upstream * share));
      dx[target] = static_cast<float>(
          upstream * (hard * (target_p - 1) + share * (target_p * all_weights - targets.weight_of_class(target))));
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<CrossEntropy> cross_entropy_simd = INGOT_SIMD_ENTRIES(cross_entropy);
const SimdEntries<CrossEntropyBackward> cross_entropy_backward_simd = INGOT_SIMD_ENTRIES(cross_entropy_backward);
}  // namespace ingot
#endif
