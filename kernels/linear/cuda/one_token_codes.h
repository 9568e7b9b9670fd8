// Codes of one token in shared memory, as a block that multiplies it by planes prepares them for itself.
//
// A span is 64 words in the order in which lanes take them: lane t of four wants word t of each half of each group of
// 32, which are 16 neighbours here, four loads. All columns of the second factor are this token's: only the first one's
// sums are looked at.
#pragma once

#include "kernels/linear/cuda/lane_codes.h"
#include "kernels/linear/cuda/plane_sums.h"

namespace ingot::device {

template <unsigned Blocks>  // of a span
struct OneCodes {
  std::uint32_t* words;
  float* scales;

  INGOT_ON_DEVICE OneCodes(std::byte* shared, unsigned depth)
      : words(reinterpret_cast<std::uint32_t*>(shared)), scales(reinterpret_cast<float*>(shared + depth)) {}

  // Word `word` of a span: codes 4 word to 4 word + 3.
  INGOT_ON_DEVICE void put(unsigned span, unsigned word, std::uint32_t codes) const {
    words[span * span_words + word % 4 * 16 + word / 4] = codes;
  }
  INGOT_ON_DEVICE SpanOfX span(unsigned index) const {
    SpanOfX x;
    const std::uint32_t* const from = words + index * span_words + lane_index() % 4 * 16;
    INGOT_UNROLL
    for (unsigned pair = 0; pair < span_groups / 2; ++pair) {
      const Words16 unit = load16(from + 4 * pair);
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) x.groups[2 * pair + i / 2].words[i % 2] = unit.words[i];
    }
    return x;
  }
  INGOT_ON_DEVICE XScales<Blocks> scales_of(unsigned index) const {
    XScales<Blocks> x = {};
    INGOT_UNROLL
    for (unsigned block = 0; block < Blocks; ++block) x.values[0][block] = scales[index * Blocks + block];
    return x;
  }
};

// Of floats, a warp for a span; or of codes that are given and lie anywhere. All threads of the block take part.
template <unsigned Blocks>
INGOT_ON_DEVICE void prepare_codes(const PlaneProducts& parameters, const OneCodes<Blocks>& to) {
  constexpr unsigned block = span_elements / Blocks;
  const unsigned depth = parameters.joined.parts[0].depth;
  if (parameters.x != nullptr) {
    for (unsigned span = warp_index(); span < depth / span_elements; span += warp_count()) {
      const unsigned at = span * span_elements + lane_index() * lane_codes;
      const LaneCodes lane = encode_lane(parameters.x, at, depth, block, parameters.is_aligned);
      INGOT_UNROLL
      for (unsigned i = 0; i < 2; ++i) to.put(span, 2 * lane_index() + i, lane.word(i));
      if (at % block == 0) to.scales[at / block] = lane.scale;
    }
    return;
  }
  for (unsigned unit = thread_index(); unit < depth / 16; unit += thread_count()) {
    const std::int8_t* const from = parameters.codes + unit * 16;
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) to.put(unit / 16, unit % 16 * 4 + i, load4_anywhere(from + 4 * i));
  }
  for (unsigned i = thread_index(); i < depth / block; i += thread_count()) to.scales[i] = parameters.scales[i];
}

}  // namespace ingot::device
