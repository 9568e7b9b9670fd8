// iq4_nl and mxfp4: four-bit codes that index a table of values.
#include <algorithm>
#include <cmath>

#include "tensor/block_encode.h"

namespace ingot {
namespace {

constexpr int block_size = 32;

float finite_or_zero(float value) { return std::isfinite(value) ? value : 0.0f; }

float largest_magnitude(const float* values) {
  float largest = 0;
  for (int j = 0; j < block_size; ++j) largest = std::max(largest, std::fabs(finite_or_zero(values[j])));
  return largest;
}

void pack(const int (&codes)[block_size], std::uint8_t (&low)[16]) {
  for (int j = 0; j < 16; ++j) low[j] = static_cast<std::uint8_t>(codes[j] | codes[j + 16] << 4);
}

// How many midpoints of the ascending table lie below.
int nearest_iq4_nl(float value) {
  int code = 0;
  for (int k = 0; k < 15; ++k) {
    code += 2 * value > static_cast<float>(iq4_nl_values[k] + iq4_nl_values[k + 1]) ? 1 : 0;
  }
  return code;
}

int nearest_mxfp4(float value) {
  const float magnitude = std::fabs(value);
  int code = 0;
  for (int k = 0; k < 7; ++k) {
    code += 2 * magnitude > static_cast<float>(mxfp4_values[k] + mxfp4_values[k + 1]) ? 1 : 0;
  }
  return code != 0 && value < 0 ? code + 8 : code;
}

}  // namespace

// For a trial scale the nearest codes, for these codes the best scale; trials place the extreme at or near either end
// of the table, which is not symmetric.
void encode_block(const float* values, BlockIQ4_NL& block) {
  const float largest = largest_magnitude(values);
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  float x[block_size];  // largest magnitude in [1, 2): see block_search.cc
  float extreme = 0;
  for (int j = 0; j < block_size; ++j) {
    x[j] = std::ldexp(finite_or_zero(values[j]), -exponent);
    if (std::fabs(x[j]) > std::fabs(extreme)) extreme = x[j];
  }
  float best_scale = 0;
  float most_explained = 0;
  const auto consider = [&](float inverse) {
    float products = 0;
    float squares = 0;
    for (float value : x) {
      const float code = iq4_nl_values[nearest_iq4_nl(value * inverse)];
      const float weight = value * value;
      products += weight * code * value;
      squares += weight * code * code;
    }
    if (squares > 0 && products * products > most_explained * squares) {
      most_explained = products * products / squares;
      best_scale = products / squares;
    }
  };
  if (extreme != 0) {
    for (int end = -142; end <= -112; end += 3) consider(static_cast<float>(end) / extreme);
    for (int end = 101; end <= 125; end += 3) consider(static_cast<float>(end) / extreme);
  }
  block.scale.set(std::clamp(std::ldexp(best_scale, exponent), -65504.0f, 65504.0f));
  const float stored = std::ldexp(block.scale.value(), -exponent);
  int codes[block_size];
  for (int j = 0; j < block_size; ++j) codes[j] = nearest_iq4_nl(stored != 0 ? x[j] / stored : 0.0f);
  pack(codes, block.low);
}

// The exponent that puts the largest value in the top binade of the codes, or the next one, which trades the cut-off of
// values above 6 for coarser steps: whichever leaves less squared error.
void encode_block(const float* values, BlockMXFP4& block) {
  const float largest = largest_magnitude(values);
  const int first = largest > 0 ? std::clamp(std::ilogb(largest) - 2 + 127, 0, 254) : 0;
  double least_error = HUGE_VAL;
  for (int exponent = first; exponent <= std::min(first + 1, 254); ++exponent) {
    const float scale = mxfp4_scale(static_cast<std::uint8_t>(exponent));
    int codes[block_size];
    double error = 0;
    for (int j = 0; j < block_size; ++j) {
      const float value = finite_or_zero(values[j]);
      codes[j] = nearest_mxfp4(value / scale);
      const double difference = double{scale} * mxfp4_values[codes[j]] - value;
      error += difference * difference;
    }
    if (error < least_error) {
      least_error = error;
      block.exponent = static_cast<std::uint8_t>(exponent);
      pack(codes, block.low);
    }
  }
}

}  // namespace ingot
