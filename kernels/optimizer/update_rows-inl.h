// The vector loop that all update rules share: walk the segments, load, apply the rule, store. Included inside a vector
// source after hwy/highway.h; the guard toggles with each target, as Highway asks of such headers.
//
// A rule is a callable (d, read, state): vectors of what is read, and vectors of the states, which it overwrites.
#if defined(INGOT_KERNELS_OPTIMIZER_UPDATE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_OPTIMIZER_UPDATE_ROWS_INL_H_
#undef INGOT_KERNELS_OPTIMIZER_UPDATE_ROWS_INL_H_
#else
#define INGOT_KERNELS_OPTIMIZER_UPDATE_ROWS_INL_H_
#endif

#include <utility>

#include "hwy/highway.h"
#include "kernels/optimizer/segments.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <class Rule, std::size_t... R, std::size_t... S>
HWY_INLINE void update_vector(const Rule& rule, const std::array<const float*, sizeof...(R)>& read,
                              const std::array<float*, sizeof...(S)>& state, std::int64_t i, std::index_sequence<R...>,
                              std::index_sequence<S...>) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const std::array<V, sizeof...(R)> values = {hn::LoadU(d, std::get<R>(read) + i)...};
  std::array<V, sizeof...(S)> states = {hn::LoadU(d, std::get<S>(state) + i)...};
  rule(d, values, states);
  (hn::StoreU(std::get<S>(states), d, std::get<S>(state) + i), ...);
}

// The rule comes by value: no store can change a copy of one's own, so its constants stay in registers.
template <class Rule, std::size_t ReadCount, std::size_t StateCount>
void update_segment(const Rule rule, const std::array<const float*, ReadCount>& read,
                    const std::array<float*, StateCount>& state, std::int64_t length) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  constexpr auto reads = std::make_index_sequence<ReadCount>();
  constexpr auto states = std::make_index_sequence<StateCount>();
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) update_vector(rule, read, state, i, reads, states);
  if (i == length) return;

  // The tail goes through a buffer, so that it sees the same instructions as the rest.
  const auto rest = static_cast<std::size_t>(length - i);
  HWY_ALIGN float buffer[ReadCount + StateCount][hn::MaxLanes(d)] = {};
  std::array<const float*, ReadCount> tail_read{};
  std::array<float*, StateCount> tail_state{};
  for (std::size_t index = 0; index < ReadCount; ++index) {
    std::copy_n(read[index] + i, rest, buffer[index]);
    tail_read[index] = buffer[index];
  }
  for (std::size_t index = 0; index < StateCount; ++index) {
    std::copy_n(state[index] + i, rest, buffer[ReadCount + index]);
    tail_state[index] = buffer[ReadCount + index];
  }
  update_vector(rule, tail_read, tail_state, 0, reads, states);
  for (std::size_t index = 0; index < StateCount; ++index) std::copy_n(tail_state[index], rest, state[index] + i);
}

template <class Rule, std::size_t... R, std::size_t... S>
void update_all(Context& context, const Rule& rule, const std::array<View<const float>, sizeof...(R)>& read,
                const std::array<View<float>, sizeof...(S)>& state, std::index_sequence<R...>,
                std::index_sequence<S...>) {
  const Segments segments(std::array<View<const float>, sizeof...(R) + sizeof...(S)>{read[R]..., state[S]...});
  const std::array<Rows<const float>, sizeof...(R)> read_rows = {Rows(read[R])...};
  const std::array<Rows<float>, sizeof...(S)> state_rows = {Rows(state[S])...};
  context.workers.for_chunks(segments.count(), segments.per_chunk(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t segment = begin; segment < end; ++segment) {
      update_segment<Rule, sizeof...(R), sizeof...(S)>(rule, {segments.start(read[R], read_rows[R], segment)...},
                                                       {segments.start(state[S], state_rows[S], segment)...},
                                                       segments.length(segment));
    }
  });
}

template <std::size_t ReadCount, std::size_t StateCount, class Rule>
void update_rows(Context& context, const std::array<View<const float>, ReadCount>& read,
                 const std::array<View<float>, StateCount>& state, const Rule& rule) {
  update_all(context, rule, read, state, std::make_index_sequence<ReadCount>(), std::make_index_sequence<StateCount>());
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
