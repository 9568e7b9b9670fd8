// Spans of x as code_rows left them, as lanes of a matrix instruction take them.
#pragma once

#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"
#include "kernels/linear/cuda/block_products_cuda.h"
#include "kernels/linear/cuda/token_tiles.h"

namespace ingot::device {

struct XCodes {
  std::uint32_t words[span_groups][2];
};

// Of token g of a tile; zeros where there is none.
INGOT_ON_DEVICE XCodes load_codes(const BlockProducts& parameters, const TokenTile& tokens, unsigned tile,
                                  std::uint32_t spans, std::uint32_t span) {
  XCodes codes = {};
  const unsigned token = tile * tile_tokens + lane_index() / 4;
  if (token >= tokens.count) return codes;
  const std::uint64_t place = (tokens.first + token) * std::uint64_t{spans} + span;
  const std::uint32_t* const from = parameters.codes + place * span_words + lane_index() % 4 * (span_words / 4);
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const Words16 words = load16(from + 4 * i);
    codes.words[2 * i][0] = words.words[0];
    codes.words[2 * i][1] = words.words[1];
    codes.words[2 * i + 1][0] = words.words[2];
    codes.words[2 * i + 1][1] = words.words[3];
  }
  return codes;
}

INGOT_ON_DEVICE void load_floats(float (&values)[span_groups], const float* from) {
  INGOT_UNROLL
  for (unsigned i = 0; i < span_groups; i += 4) {
    const Words16 words = load16(from + i);
    INGOT_UNROLL
    for (unsigned j = 0; j < 4; ++j) values[i + j] = float_of_bits(words.words[j]);
  }
}

// Sums of 32, of those of 16.
INGOT_ON_DEVICE void load_pair_sums(std::int32_t (&sums)[span_groups], const std::int32_t* from) {
  INGOT_UNROLL
  for (unsigned i = 0; i < span_groups; i += 2) {
    const Words16 words = load16(from + 2 * i);
    sums[i] = static_cast<std::int32_t>(words.words[0] + words.words[1]);
    sums[i + 1] = static_cast<std::int32_t>(words.words[2] + words.words[3]);
  }
}

}  // namespace ingot::device
