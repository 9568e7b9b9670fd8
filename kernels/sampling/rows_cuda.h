// What launches of the device functions of sampling are told, and the scratch that they share.
#pragma once

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"

namespace ingot {

// Tokens of a row that a block looks through for the greatest.
inline constexpr std::uint32_t sampling_piece = 8192;

// Of every row: the greatest of each of its pieces as order_key.h ranks them, and the sums of its blocks of weights.
struct SamplingScratch {
  std::int64_t* greatest = nullptr;
  double* block_sums = nullptr;
  std::uint32_t pieces = 0;  // of a row
  std::uint32_t blocks = 0;  // of a row
};

struct SamplingRows {
  DeviceRows<const float> logits;
  SamplingScratch scratch;
  bool is_aligned;  // rows of logits (and of y) at multiples of 16 bytes, and as many numbers in each as fill such
};

struct ChosenTokens {
  SamplingRows rows;
  const float* uniform;  // categorical's
  std::int32_t* tokens;
};

struct FilteredRows {
  SamplingRows rows;
  DeviceRows<float> y;
  RowGroups groups;    // of four tokens
  float limit;         // the temperature, p, or min_p as a distance
  std::uint32_t k;     // top_k's
  std::int64_t* last;  // the last token that is kept, ranked, by row
};

struct PenalisedRows {
  DeviceRows<const float> logits;
  DeviceRows<const std::int32_t> history;
  DeviceRows<float> y;
  RowGroups groups;            // of four tokens
  std::uint32_t* occurrences;  // a row of tokens for each row
  float repetition;
  float presence;
  float frequency;
  bool is_aligned;
};

}  // namespace ingot
