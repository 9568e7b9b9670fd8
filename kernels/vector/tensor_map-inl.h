// Applies a vector function to every element of some tensors of one shape: the loop under all activations.
#if defined(INGOT_KERNELS_VECTOR_TENSOR_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_TENSOR_MAP_INL_H_
#undef INGOT_KERNELS_VECTOR_TENSOR_MAP_INL_H_
#else
#define INGOT_KERNELS_VECTOR_TENSOR_MAP_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/contract/context.h"
#include "tensor/rows.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

template <std::size_t Count>
using Sources = std::array<const float*, Count>;
template <std::size_t Count>
using Targets = std::array<float*, Count>;

// How results are stored. Streaming stores go past the caches: no line is read before it is overwritten, and nothing
// else is pushed out. They pay where a tensor is too large to be found in a cache again.
enum class Stores : std::uint8_t { cached, streaming };

inline Stores stores_for(std::int64_t bytes) {
  constexpr std::int64_t too_large_for_caches = std::int64_t{256} << 20;
  return bytes >= too_large_for_caches ? Stores::streaming : Stores::cached;
}

// One vector's worth: function(d, inputs, outputs) on arrays of vectors.
template <Stores How, class D, std::size_t Inputs, std::size_t Outputs, class Function>
HWY_INLINE void map_vector(D d, const Sources<Inputs>& in, const Targets<Outputs>& out, std::int64_t at,
                           const Function& function) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::Vec<D> read[Inputs];
  hn::Vec<D> written[Outputs];
  for (std::size_t k = 0; k < Inputs; ++k) read[k] = hn::LoadU(d, in[k] + at);
  function(d, read, written);
  for (std::size_t k = 0; k < Outputs; ++k) {
    if constexpr (How == Stores::streaming)
      hn::Stream(written[k], d, out[k] + at);
    else
      hn::StoreU(written[k], d, out[k] + at);
  }
}

// Less than a vector, through a small buffer, so that an element's result does not depend on where in a row it stands.
template <std::size_t Inputs, std::size_t Outputs, class Function>
HWY_INLINE void map_part(const Sources<Inputs>& in, const Targets<Outputs>& out, std::int64_t at, std::int64_t count,
                         const Function& function) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  HWY_ALIGN float buffers[Inputs + Outputs][hn::MaxLanes(d)] = {};
  Sources<Inputs> from;
  Targets<Outputs> to;
  for (std::size_t k = 0; k < Inputs; ++k) {
    std::copy_n(in[k] + at, count, buffers[k]);
    from[k] = buffers[k];
  }
  for (std::size_t k = 0; k < Outputs; ++k) to[k] = buffers[Inputs + k];
  map_vector<Stores::cached>(d, from, to, 0, function);
  for (std::size_t k = 0; k < Outputs; ++k) std::copy_n(buffers[Inputs + k], count, out[k] + at);
}

// How many elements to go until every target is aligned to a vector; -1 where they never are together.
template <std::size_t Outputs>
std::int64_t elements_to_alignment(const Targets<Outputs>& out, std::int64_t lanes) {
  const auto bytes = static_cast<std::uintptr_t>(lanes) * sizeof(float);
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(out[0]) % bytes;
  for (float* pointer : out) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % bytes != offset) return -1;
  }
  return static_cast<std::int64_t>((bytes - offset) % bytes / sizeof(float));
}

// Vectors from element i on, two a turn: one more would need more registers than AVX2 has.
template <Stores How, std::size_t Inputs, std::size_t Outputs, class Function>
HWY_INLINE void map_stretch_from(std::int64_t i, const Sources<Inputs>& in, const Targets<Outputs>& out,
                                 std::int64_t length, const Function& function) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // From memory a line takes some 100 ns, in which a curve is done with 30 of them: further than hardware looks ahead.
  constexpr std::int64_t ahead = 512;
  constexpr std::int64_t line = 64 / sizeof(float);
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    if constexpr (How == Stores::streaming) {
      for (std::size_t k = 0; k < Inputs; ++k) {
        for (std::int64_t at = i; at < i + 2 * lanes && at + ahead < length; at += line)
          hwy::Prefetch(in[k] + at + ahead);
      }
    }
    map_vector<How>(d, in, out, i, function);
    map_vector<How>(d, in, out, i + lanes, function);
  }
  if (i + lanes <= length) {
    map_vector<How>(d, in, out, i, function);
    i += lanes;
  }
  if (i < length) map_part(in, out, i, length - i, function);
}

// A stretch of neighbours.
template <std::size_t Inputs, std::size_t Outputs, class Function>
HWY_INLINE void map_stretch(const Sources<Inputs>& in, const Targets<Outputs>& out, std::int64_t length,
                            const Function& function, Stores stores = Stores::cached) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (stores == Stores::streaming) {
    const std::int64_t first =
        elements_to_alignment(out, static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>())));
    if (first >= 0 && first < length) {
      if (first > 0) map_part(in, out, 0, first, function);
      map_stretch_from<Stores::streaming>(first, in, out, length, function);
      hwy::FlushStream();
      return;
    }
  }
  map_stretch_from<Stores::cached>(0, in, out, length, function);
}

template <class Element, std::size_t Count>
bool all_contiguous(const std::array<View<Element>, Count>& views) {
  return std::all_of(views.begin(), views.end(), [](const auto& view) { return view.is_contiguous(); });
}

template <class Element, std::size_t Count, std::size_t... Index>
std::array<Rows<Element>, Count> rows_of(const std::array<View<Element>, Count>& views, std::index_sequence<Index...>) {
  return {Rows<Element>(views[Index])...};
}

// Contiguous tensors are one long stretch whatever their shape. Precondition: one shape, packed last axes.
template <std::size_t Inputs, std::size_t Outputs, class Function>
void map_elements(const std::array<View<const float>, Inputs>& in, const std::array<View<float>, Outputs>& out,
                  Context& context, const Function& function) {
  if (out[0].empty()) return;
  constexpr auto element_bytes = static_cast<std::int64_t>((Inputs + Outputs) * sizeof(float));
  Stores stores = stores_for(out[0].count() * static_cast<std::int64_t>(sizeof(float)));
  for (const auto& view : in) {
    if (view.data() == out[0].data()) stores = Stores::cached;  // in place: the lines are in the cache already
  }
  if (all_contiguous(in) && all_contiguous(out)) {
    const auto run = [&](std::int64_t begin, std::int64_t end, int) {
      Sources<Inputs> from;
      Targets<Outputs> to;
      for (std::size_t k = 0; k < Inputs; ++k) from[k] = in[k].data() + begin;
      for (std::size_t k = 0; k < Outputs; ++k) to[k] = out[k].data() + begin;
      map_stretch(from, to, end - begin, function, stores);
    };
    context.workers.for_chunks(out[0].count(), rows_per_chunk(element_bytes), run);
    return;
  }
  const auto from_rows = rows_of(in, std::make_index_sequence<Inputs>());
  const auto to_rows = rows_of(out, std::make_index_sequence<Outputs>());
  const std::int64_t length = to_rows[0].length();
  const auto run_rows = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      Sources<Inputs> from;
      Targets<Outputs> to;
      for (std::size_t k = 0; k < Inputs; ++k) from[k] = from_rows[k][row];
      for (std::size_t k = 0; k < Outputs; ++k) to[k] = to_rows[k][row];
      map_stretch(from, to, length, function, stores);
    }
  };
  context.workers.for_chunks(to_rows[0].count(), rows_per_chunk(length * element_bytes), run_rows);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
