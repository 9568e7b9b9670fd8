#include "kernels/linear/cuda/prepared_x_cuda.h"

#include "kernels/linear/cuda/lane_codes.h"
#include "kernels/linear/cuda/rounded_row.h"

namespace ingot::device {
namespace {

INGOT_ON_DEVICE LaneCodes move(const CodedRows& parameters, unsigned row, unsigned at) {
  LaneCodes result = {};
  if (at >= parameters.depth) return result;
  result.scale = parameters.given_scales[row * parameters.scales_stride + at / parameters.block];
  const std::int8_t* const from = parameters.given_codes + row * parameters.codes_stride + at;
  INGOT_UNROLL
  for (unsigned i = 0; i < lane_codes; ++i) result.codes[i] = from[i];
  return result;
}

}  // namespace

// A warp for a span of a row, eight neighbours a lane.
INGOT_DEVICE_FUNCTION(code_rows, CodedRows, 256) {
  const unsigned spans = spans_of(parameters.depth);
  const unsigned place = block_index() * warp_count() + warp_index();
  if (place >= parameters.rows * spans) return;
  const unsigned row = place / spans;
  const unsigned at = place % spans * span_elements + lane_index() * lane_codes;
  const LaneCodes lane = parameters.x != nullptr
                             ? encode_lane(parameters.x + row * parameters.x_stride, at, parameters.depth,
                                           parameters.block, parameters.is_aligned)
                             : move(parameters, row, at);

  std::uint32_t* const codes = parameters.codes + place * std::uint64_t{span_words};
  const unsigned group = lane_index() / block_lanes;
  if (parameters.is_laid) {
    std::uint32_t* const eight = parameters.codes + (row / 8 * std::uint64_t{spans} + place % spans) * (8 * span_words);
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned quad = lane_index() % block_lanes * 2 + i;
      eight[group / 2 * 128 + (row % 8 * 4 + quad % 4) * 4 + group % 2 * 2 + quad / 4] = lane.word(i);
    }
  } else if (parameters.sums == nullptr) {
    store8(codes + lane_index() * 2, {{lane.word(0), lane.word(1)}});
  } else {
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned quad = lane_index() % block_lanes * 2 + i;
      codes[(quad % 4 * span_groups + group) * 2 + quad / 4] = lane.word(i);
    }
    std::int32_t sum = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < lane_codes; ++i) sum += lane.codes[i];
    sum += shuffle_xor(sum, 1);
    if (lane_index() % 2 == 0) parameters.sums[place * std::uint64_t{16} + lane_index() / 2] = sum;
  }
  if (parameters.block == span_elements) {
    if (lane_index() == 0) parameters.scales[place] = lane.scale;
  } else if (lane_index() % block_lanes == 0) {
    parameters.scales[place * std::uint64_t{span_groups} + group] = lane.scale;
  }
}

// A block for a row.
INGOT_DEVICE_FUNCTION(round_rows, RoundedRows, 256) {
  const unsigned row = block_index();
  const FloatRow x = {parameters.x + row * parameters.x_stride, parameters.depth, parameters.is_aligned};
  auto* const to = reinterpret_cast<std::byte*>(parameters.rounded + row * std::uint64_t{parameters.stride});
  if (parameters.from_halves == nullptr) {
    x.round_to_bfloat16s(to);
    return;
  }
  const float from_halves = x.round_to_halves(to);
  if (thread_index() == 0) parameters.from_halves[row] = from_halves;
}

}  // namespace ingot::device
