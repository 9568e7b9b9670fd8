// Vector softmax: three passes over a row that stays in cache between them, so memory is read and written once.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attention/softmax/softmax.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/softmax/softmax_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// The first pass: scores[j] = scale x[j] + mask[j], and their maximum. A mask of stride 0 is one number for the row.
float write_scores(const float* x, const float* mask, std::int64_t mask_stride, float scale, float* scores,
                   std::int64_t length) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  auto maximum = hn::Set(d, minus_infinity);
  for (std::int64_t i = 0; i < length; i += lanes) {
    const std::int64_t left = length - i;
    auto score = hn::Mul(load_some(d, x + i, left, 0.0f), factor);
    if (mask != nullptr) {
      score = hn::Add(score, mask_stride == 0 ? hn::Set(d, *mask) : load_some(d, mask + i, left, 0.0f));
    }
    store_some(d, score, scores + i, left);
    if (left < lanes) {
      score = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(left)), score, hn::Set(d, minus_infinity));
    }
    maximum = hn::Max(maximum, score);
  }
  return hn::GetLane(hn::MaxOfLanes(d, maximum));
}

void scale_row(float* y, std::int64_t length, float factor) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  for (std::int64_t i = 0; i < length; i += lanes) {
    store_some(d, hn::Mul(load_some(d, y + i, length - i, 0.0f), by), y + i, length - i);
  }
}

void softmax(const Softmax::Arguments& a, Context& context) {
  const Shape row_shape = shape_of_rows(a.x.shape());
  const Rows x(a.x);
  const Rows y(a.y);
  const bool is_masked = is_present(a.mask);
  const View<const float> repeated = is_masked ? a.mask.broadcast_to(a.x.shape()).value() : a.x;
  const Rows mask(repeated);
  const PerRow sinks(a.sinks, row_shape);
  const std::int64_t length = x.length();
  const std::int64_t queries = a.x.rank() >= 2 ? std::max<std::int64_t>(a.x.shape().last(1), 1) : 1;
  const auto row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t visible = visible_keys(a.mask_kind, 0, row % queries + a.query_offset, length).end;
      float* to = y[row];
      const float maximum = write_scores(x[row], is_masked ? mask[row] : nullptr, mask.stride(), a.scale, to, visible);
      const float sink = is_present(a.sinks) ? sinks[row] : minus_infinity;
      const float taken = taken_out(std::max(maximum, sink));
      const float sum = exponentials(to, to, visible, taken) + std::exp(sink - taken);
      scale_row(to, visible, sum == 0 ? 0.0f : 1.0f / sum);
      std::memset(to + visible, 0, static_cast<std::size_t>(length - visible) * sizeof(float));
      if (is_present(a.log_sum_exp)) a.log_sum_exp.data()[row] = sum == 0 ? minus_infinity : taken + std::log(sum);
    }
  });
}

void softmax_backward(const SoftmaxBackward::Arguments& a, Context& context) {
  const Rows y(a.y);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = y.length();
  auto* deltas = reinterpret_cast<float*>(context.scratch.data());
  const auto row_bytes = length * static_cast<std::int64_t>(3 * sizeof(float));
  context.workers.for_chunks(y.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t row = begin; row < end; ++row) {
      const float* weights = y[row];
      const float* from = dy[row];
      float* to = dx[row];
      const float delta = sum_of_products(from, weights, length);
      for (std::int64_t i = 0; i < length; i += lanes) {
        const auto weight = hn::Mul(load_some(d, weights + i, length - i, 0.0f), hn::Set(d, a.scale));
        const auto gradient = hn::Sub(load_some(d, from + i, length - i, 0.0f), hn::Set(d, delta));
        store_some(d, hn::Mul(weight, gradient), to + i, length - i);
      }
      if (is_present(a.dsinks)) deltas[row] = delta;
    }
  });
  if (is_present(a.dsinks)) softmax_sink_gradients(a, deltas);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Softmax> softmax_simd = INGOT_SIMD_ENTRIES(softmax);
const SimdEntries<SoftmaxBackward> softmax_backward_simd = INGOT_SIMD_ENTRIES(softmax_backward);
}  // namespace ingot
#endif
