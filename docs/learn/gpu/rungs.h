// What the rungs of the two ladders are told (docs/learn/gpu.md).
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace ingot {

// y[r,i] = gamma[i] x[r,i] / sqrt(mean of x[r,:]^2 + epsilon). Rows lie one after another.
struct NormRung {
  const float* x;
  const float* gamma;
  float* y;
  std::uint32_t rows;
  std::uint32_t length;  // a multiple of 4, and norm_kept at most
  float epsilon;
};

// y[n] = sum_k weights[n,k] x[k].
struct GemvRung {
  const Half* weights;
  const float* x;
  float* y;
  std::uint32_t rows;   // of the weights: a multiple of 2
  std::uint32_t depth;  // a multiple of gemv_step
};

inline constexpr std::uint32_t rung_threads = 256;
inline constexpr std::uint32_t norm_kept = 4096;  // 16 floats of a row in each of 256 threads
inline constexpr std::uint32_t gemv_step = 8192;  // what a block of 256 threads has in flight: four times 8 halves each

}  // namespace ingot
