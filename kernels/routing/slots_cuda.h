// What launches of the device functions of grouped tokens are told: routing.group_tokens, gather, scatter, combine and
// load_metrics.
#pragma once

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"
#include "kernels/device/view.h"

namespace ingot {

struct TokenGroups {
  DeviceTensor<const std::int32_t> indices;  // [T, k]
  DeviceTensor<std::int32_t> permutation;
  DeviceTensor<std::int32_t> offsets;
  std::uint32_t choices;  // T k
  std::uint32_t experts;
};

// Rows copied between tokens and slots.
struct SlotRows {
  DeviceRows<const float> x;
  DeviceRows<float> y;
  DeviceTensor<const std::int32_t> permutation;
  RowGroups groups;         // of four elements
  std::uint32_t per_token;  // k
  bool is_aligned;          // all rows at multiples of 16 bytes, and as many numbers in each as fill such
};

struct CombinedRows {
  DeviceRows<const float> x;
  DeviceRows<float> y;
  DeviceTensor<const float> weights;  // [T, k]
  const std::int32_t* slot_of;        // by choice
  RowGroups groups;                   // of four elements
  std::uint32_t per_token;
  bool is_aligned;
};

struct InvertedPermutation {
  DeviceTensor<const std::int32_t> permutation;
  std::int32_t* slot_of;
  std::uint32_t slots;
};

struct ExpertLoads {
  DeviceTensor<const float> probabilities;   // [T, E]
  DeviceTensor<const std::int32_t> indices;  // [T, k]
  DeviceTensor<std::int32_t> counts;
  DeviceTensor<float> mean_probability;
  float* loss;
  double* terms;  // of the loss, by expert
  std::uint32_t tokens;
  std::uint32_t choices;  // T k
  std::uint32_t experts;
};

}  // namespace ingot
