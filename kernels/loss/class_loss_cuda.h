// What launches of the class losses' device functions are told.
#pragma once

#include <cstdint>

namespace ingot {

// Who is ignored, and what a class weighs: ClassTargets of class_targets.h on a device.
struct DeviceTargets {
  const std::int32_t* targets;
  std::int64_t stride;
  const float* class_weights;  // null: each weighs 1
  std::int32_t ignore_index;
};

struct ClassLossRows {
  DeviceTargets targets;
  const float* scores;  // logits or log-probabilities, a packed row a target
  std::int64_t stride;  // between rows
  std::uint32_t rows;
  std::uint32_t classes;
  float label_smoothing;
  bool is_aligned;     // rows begin at multiples of 16 bytes
  float* log_sum_exp;  // null: nobody asked for it
  float* loss;         // where each row has its own; null: it goes to row_losses
  double* row_losses;
};

struct ClassLossTotal {
  DeviceTargets targets;
  const double* row_losses;
  std::uint32_t rows;
  bool is_mean;
  float* loss;
};

// Rows of so many or fewer have blocks of 128 threads, or of 256; longer ones of 512.
inline constexpr std::uint32_t classes_of_small_block = 4096;
inline constexpr std::uint32_t classes_of_block = 65536;

}  // namespace ingot
