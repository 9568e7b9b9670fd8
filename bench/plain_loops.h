// What a compiler makes of the obvious loop. plain_loops.cc alone is built with -O3 -ffast-math, so these
// use the compiler's own vectoriser and the C library's vector functions.
#pragma once

#include <cstdint>

namespace plain {

void silu(const float* x, float* y, std::int64_t count);
void gelu(const float* x, float* y, std::int64_t count);
void softmax(const float* x, float* y, std::int64_t rows, std::int64_t width);

struct AdamwSettings {
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float weight_decay;
  std::int64_t step;
};
void adamw(float* parameters, const float* gradient, float* first_moment, float* second_moment, std::int64_t count,
           const AdamwSettings& settings);

}  // namespace plain
