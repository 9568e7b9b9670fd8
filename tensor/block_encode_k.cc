// Packing of the K formats; what is packed comes from the searches.
#include <cstring>

#include "tensor/block_encode.h"
#include "tensor/block_search.h"

namespace ingot {
namespace {

// The inverse of k_scale and k_minimum.
void pack_k_scales(const std::uint8_t* scales, const std::uint8_t* minimums, std::uint8_t (&packed)[12]) {
  for (int g = 0; g < 4; ++g) {
    packed[g] = static_cast<std::uint8_t>(scales[g] | scales[g + 4] >> 4 << 6);
    packed[g + 4] = static_cast<std::uint8_t>(minimums[g] | minimums[g + 4] >> 4 << 6);
    packed[g + 8] = static_cast<std::uint8_t>((scales[g + 4] & 15) | (minimums[g + 4] & 15) << 4);
  }
}

// Places bits (shift and up, `width` of them) of each code where q2_k to q6_k keep them.
void pack_two_bits(const std::uint8_t* codes, int shift, std::uint8_t (&bytes)[64]) {
  std::memset(bytes, 0, sizeof(bytes));
  for (int i = 0; i < 256; ++i) {
    std::uint8_t& byte = bytes[i / 128 * 32 + i % 32];
    byte = static_cast<std::uint8_t>(byte | (codes[i] >> shift & 3) << i % 128 / 32 * 2);
  }
}

void pack_one_bit(const std::uint8_t* codes, int shift, std::uint8_t (&bytes)[32]) {
  std::memset(bytes, 0, sizeof(bytes));
  for (int i = 0; i < 256; ++i) {
    bytes[i % 32] = static_cast<std::uint8_t>(bytes[i % 32] | (codes[i] >> shift & 1) << i / 32);
  }
}

void pack_four_bits(const std::uint8_t* codes, std::uint8_t (&bytes)[128]) {
  for (int byte = 0; byte < 128; ++byte) {
    const int first = byte / 32 * 64 + byte % 32;
    bytes[byte] = static_cast<std::uint8_t>((codes[first] & 15) | (codes[first + 32] & 15) << 4);
  }
}

}  // namespace

void encode_block(const float* values, BlockQ2_K& block) {
  AffineFit fit;
  fit_affine(values, {.group = 16, .highest_code = 3, .highest_scale = 15}, fit);
  block.scale = fit.scale;
  block.minimum = fit.minimum;
  for (int g = 0; g < 16; ++g) {
    block.scales[g] = static_cast<std::uint8_t>(fit.scale_codes[g] | fit.minimum_codes[g] << 4);
  }
  pack_two_bits(fit.codes, 0, block.low);
}

void encode_block(const float* values, BlockQ3_K& block) {
  SymmetricFit fit;
  fit_symmetric(values, {.code_levels = 4, .scale_levels = 32}, fit);
  block.scale = fit.scale;
  std::memset(block.scales, 0, sizeof(block.scales));
  for (int g = 0; g < 16; ++g) {
    const int scale = fit.scale_codes[g] + 32;
    std::uint8_t& low = block.scales[g % 8];
    low = static_cast<std::uint8_t>(low | (scale & 15) << g / 8 * 4);
    std::uint8_t& high = block.scales[8 + g % 4];
    high = static_cast<std::uint8_t>(high | scale >> 4 << g / 4 * 2);
  }
  std::uint8_t codes[256];
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<std::uint8_t>(fit.codes[i] + 4);
  pack_two_bits(codes, 0, block.low);
  pack_one_bit(codes, 2, block.high);
}

void encode_block(const float* values, BlockQ4_K& block) {
  AffineFit fit;
  fit_affine(values, {.group = 32, .highest_code = 15, .highest_scale = 63}, fit);
  block.scale = fit.scale;
  block.minimum = fit.minimum;
  pack_k_scales(fit.scale_codes, fit.minimum_codes, block.scales);
  pack_four_bits(fit.codes, block.low);
}

void encode_block(const float* values, BlockQ5_K& block) {
  AffineFit fit;
  fit_affine(values, {.group = 32, .highest_code = 31, .highest_scale = 63}, fit);
  block.scale = fit.scale;
  block.minimum = fit.minimum;
  pack_k_scales(fit.scale_codes, fit.minimum_codes, block.scales);
  pack_four_bits(fit.codes, block.low);
  pack_one_bit(fit.codes, 4, block.high);
}

void encode_block(const float* values, BlockQ6_K& block) {
  SymmetricFit fit;
  fit_symmetric(values, {.code_levels = 32, .scale_levels = 128}, fit);
  block.scale = fit.scale;
  for (int g = 0; g < 16; ++g) block.scales[g] = fit.scale_codes[g];
  std::uint8_t codes[256];
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<std::uint8_t>(fit.codes[i] + 32);
  for (int byte = 0; byte < 128; ++byte) {
    const int first = byte / 64 * 128 + byte % 64;
    block.low[byte] = static_cast<std::uint8_t>((codes[first] & 15) | (codes[first + 64] & 15) << 4);
  }
  pack_two_bits(codes, 4, block.high);
}

}  // namespace ingot
