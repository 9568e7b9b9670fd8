// What a launch of norm.batch_norm's device function is told.
#pragma once

#include "kernels/device/row_groups.h"

namespace ingot {

struct BatchNormRows {
  const float* x;  // a row is a channel of an image
  float* y;
  const float* gamma;
  const float* beta;
  const float* mean;
  const float* variance;
  RowGroups groups;  // of four positions
  std::uint32_t length;
  std::uint32_t channels;
  float epsilon;
  bool is_aligned;  // x and y at multiples of 16 bytes, and rows that are
};

}  // namespace ingot
