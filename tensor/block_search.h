// The searches behind the encoders whose rounding is ours to choose: scales that leave the least weighted squared
// error. All are deterministic and take values of any finite size.
#pragma once

#include <cstdint>

#include "tensor/block_formats.h"

namespace ingot {

// 256 values in groups: value = scale * scale_codes[g] * codes[i] - minimum * minimum_codes[g].
struct AffineFit {
  StoredHalf scale, minimum;
  std::uint8_t scale_codes[16];
  std::uint8_t minimum_codes[16];
  std::uint8_t codes[256];  // [0, highest_code]
};
struct AffineLevels {
  int group;  // elements that share a scale: 16 or 32
  int highest_code;
  int highest_scale;  // of scale_codes and minimum_codes
};
void fit_affine(const float* values, AffineLevels levels, AffineFit& fit);

// 256 values in groups of 16: value = scale * scale_codes[g] * codes[i].
struct SymmetricFit {
  StoredHalf scale;
  std::int8_t scale_codes[16];  // [-scale_levels, scale_levels - 1]
  std::int8_t codes[256];       // [-code_levels, code_levels - 1]
};
struct SymmetricLevels {
  int code_levels;
  int scale_levels;
};
void fit_symmetric(const float* values, SymmetricLevels levels, SymmetricFit& fit);

}  // namespace ingot
