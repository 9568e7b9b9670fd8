// Vector selective scan in two orders. Over several tokens lanes are channels: a vector of channels goes through all
// time with its N memories and transitions turned into vectors on the stack, so nothing is summed across lanes. For one
// token turning would cost more than the scan, so lanes are memories.
#include "kernels/state/selective_scan.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/state/selective_scan_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
void scan_channels(D d, const SelectiveScan::Arguments& a, std::int64_t batch, std::int64_t channel) {
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  constexpr std::int64_t most = selective_scan_most_memories;
  const std::int64_t memories = a.transition.size(1);
  HWY_ALIGN float transition[most * lanes];
  HWY_ALIGN float state[most * lanes];
  HWY_ALIGN float skip[lanes] = {};
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    for (std::int64_t n = 0; n < memories; ++n) {
      transition[n * lanes + lane] = a.transition(channel + lane, n);
      state[n * lanes + lane] = is_present(a.initial_state) ? a.initial_state(batch, channel + lane, n) : 0.0f;
    }
    if (is_present(a.skip)) skip[lane] = a.skip(channel + lane);
  }
  for (std::int64_t t = 0; t < a.x.size(1); ++t) {
    const auto x = hn::LoadU(d, &a.x(batch, t, channel));
    const auto delta = hn::LoadU(d, &a.delta(batch, t, channel));
    const auto driven = hn::Mul(delta, x);
    const float* input_projection = &a.input_projection(batch, t, 0);
    const float* output_projection = &a.output_projection(batch, t, 0);
    auto y = is_present(a.skip) ? hn::Mul(hn::Load(d, skip), x) : hn::Zero(d);
    for (std::int64_t n = 0; n < memories; ++n) {
      const auto factor = exp_of(d, hn::Mul(delta, hn::Load(d, transition + n * lanes)));
      const auto kept = hn::Mul(factor, hn::Load(d, state + n * lanes));
      const auto next = hn::MulAdd(driven, hn::Set(d, input_projection[n]), kept);
      hn::Store(next, d, state + n * lanes);
      y = hn::MulAdd(next, hn::Set(d, output_projection[n]), y);
    }
    hn::StoreU(y, d, &a.y(batch, t, channel));
  }
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    for (std::int64_t n = 0; n < memories; ++n) a.final_state(batch, channel + lane, n) = state[n * lanes + lane];
  }
}

// One token of one channel: the memories [n, count) in steps of D's lanes as far as they fit. Adds <C, h> to y.
template <class D>
std::int64_t scan_memories(D d, const SelectiveScan::Arguments& a, std::int64_t batch, std::int64_t channel,
                           std::int64_t n, std::int64_t count, float& y) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float delta = a.delta(batch, 0, channel);
  const auto driven = hn::Set(d, delta * a.x(batch, 0, channel));
  const float* transition = &a.transition(channel, 0);
  const float* input_projection = &a.input_projection(batch, 0, 0);
  const float* output_projection = &a.output_projection(batch, 0, 0);
  const float* before = is_present(a.initial_state) ? &a.initial_state(batch, channel, 0) : nullptr;
  float* after = &a.final_state(batch, channel, 0);
  auto sum = hn::Zero(d);
  for (; n + lanes <= count; n += lanes) {
    auto next = hn::Mul(driven, hn::LoadU(d, input_projection + n));
    if (before != nullptr) {
      const auto factor = exp_of(d, hn::Mul(hn::Set(d, delta), hn::LoadU(d, transition + n)));
      next = hn::MulAdd(factor, hn::LoadU(d, before + n), next);
    }
    hn::StoreU(next, d, after + n);
    sum = hn::MulAdd(next, hn::LoadU(d, output_projection + n), sum);
  }
  y += hn::GetLane(hn::SumOfLanes(d, sum));
  return n;
}

void scan_one_token(const SelectiveScan::Arguments& a, Context& context) {
  const std::int64_t channels = a.x.size(2);
  const std::int64_t memories = a.transition.size(1);
  context.workers.for_chunks(
      a.x.size(0) * channels, rows_per_chunk(16 * memories), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t batch = row / channels;
          const std::int64_t channel = row % channels;
          float y = is_present(a.skip) ? a.skip(channel) * a.x(batch, 0, channel) : 0.0f;
          const std::int64_t done = scan_memories(hn::ScalableTag<float>(), a, batch, channel, 0, memories, y);
          scan_memories(hn::CappedTag<float, 1>(), a, batch, channel, done, memories, y);
          a.y(batch, 0, channel) = y;
        }
      });
}

void selective_scan(const SelectiveScan::Arguments& a, Context& context) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t channels = a.x.size(2);
  if (a.x.size(0) == 0 || channels == 0) return;
  if (a.x.size(1) == 1) return scan_one_token(a, context);
  const std::int64_t blocks = divide_rounding_up(channels, lanes);
  // An exponential takes the time of some 16 bytes of streaming.
  const std::int64_t block_bytes = 16 * lanes * a.transition.size(1) * (a.x.size(1) + 1);
  context.workers.for_chunks(a.x.size(0) * blocks, rows_per_chunk(block_bytes),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               for (std::int64_t task = begin; task < end; ++task) {
                                 const std::int64_t batch = task / blocks;
                                 std::int64_t channel = task % blocks * lanes;
                                 if (channel + lanes <= channels) {
                                   scan_channels(d, a, batch, channel);
                                 } else {
                                   for (; channel < channels; ++channel)
                                     scan_channels(hn::CappedTag<float, 1>(), a, batch, channel);
                                 }
                               }
                             });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<SelectiveScan> selective_scan_simd = INGOT_SIMD_ENTRIES(selective_scan);
}  // namespace ingot
#endif
