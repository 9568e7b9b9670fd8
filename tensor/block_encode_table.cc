// iq4_nl, iq4_xs and mxfp4: four-bit codes that index a table of values.
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

// For a trial scale the nearest codes, for these codes the best scale; trials place the extreme at or near either end
// of the table, which is not symmetric.
float best_table_scale(const float* x) {
  float extreme = 0;
  for (int j = 0; j < block_size; ++j) {
    if (std::fabs(x[j]) > std::fabs(extreme)) extreme = x[j];
  }
  float best_scale = 0;
  float most_explained = 0;
  const auto consider = [&](float inverse) {
    float products = 0;
    float squares = 0;
    for (int j = 0; j < block_size; ++j) {
      const float code = iq4_nl_values[nearest_iq4_nl(x[j] * inverse)];
      const float weight = x[j] * x[j];
      products += weight * code * x[j];
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
  return best_scale;
}

void pack_table_codes(const float* x, float scale, std::uint8_t* low) {
  for (int j = 0; j < 16; ++j) {
    const auto code = [&](int i) { return nearest_iq4_nl(scale != 0 ? x[i] / scale : 0.0f); };
    low[j] = static_cast<std::uint8_t>(code(j) | code(j + 16) << 4);
  }
}

// Numbers times a power of two, so that the largest magnitude lies in [1, 2): see block_search.cc. Returns the power.
int normalise_values(const float* values, int count, float* x) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::fabs(finite_or_zero(values[i])));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  for (int i = 0; i < count; ++i) x[i] = std::ldexp(finite_or_zero(values[i]), -exponent);
  return exponent;
}

// Stores a scale of such numbers, and returns what the half stands for.
float store_table_scale(float scale, int exponent, StoredHalf& half) {
  half.set(std::clamp(std::ldexp(scale, exponent), -65504.0f, 65504.0f));
  return std::ldexp(half.value(), -exponent);
}

}  // namespace

void encode_block(const float* values, BlockIQ4_NL& block) {
  float x[block_size];
  const int exponent = normalise_values(values, block_size, x);
  pack_table_codes(x, store_table_scale(best_table_scale(x), exponent, block.scale), block.low);
}

// Each group's best scale, then these as integers of the largest of them.
void encode_block(const float* values, BlockIQ4_XS& block) {
  float x[256];
  const int exponent = normalise_values(values, 256, x);
  float scales[8];
  float extreme = 0;
  for (int g = 0; g < 8; ++g) {
    scales[g] = best_table_scale(x + 32 * g);
    if (std::fabs(scales[g]) > std::fabs(extreme)) extreme = scales[g];
  }
  const float scale = store_table_scale(extreme / -32, exponent, block.scale);
  block.scales_high[0] = block.scales_high[1] = 0;
  for (int g = 0; g < 8; ++g) {
    const int code = scale != 0 ? nearest_code(scales[g] / scale, -32, 31) : 0;
    const int stored = code + 32;
    std::uint8_t& low = block.scales_low[g / 2];
    low = static_cast<std::uint8_t>((g % 2 == 0 ? 0 : low) | (stored & 15) << 4 * (g % 2));
    std::uint8_t& high = block.scales_high[g / 4];
    high = static_cast<std::uint8_t>(high | (stored >> 4) << 2 * (g % 4));
    pack_table_codes(x + 32 * g, scale * static_cast<float>(code), block.low + 16 * g);
  }
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
