// What a compiler makes of the obvious loop. plain_loops.cc alone is built with -O3 -ffast-math -march=native, so these
// use the compiler's own vectoriser and the C library's vector functions.
#pragma once

#include <cstdint>

namespace plain {

void copy(const float* x, float* y, std::int64_t count);
void relu(const float* x, float* y, std::int64_t count);
void silu(const float* x, float* y, std::int64_t count);
void gelu(const float* x, float* y, std::int64_t count);
void rms_norm(const float* x, const float* gamma, float epsilon, float* y, std::int64_t rows, std::int64_t width);
void softmax(const float* x, float* y, std::int64_t rows, std::int64_t width);

struct AdamwSettings {
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  std::int64_t step;
};
void adamw(float* parameter, const float* gradient, float* first, float* second, std::int64_t count,
           const AdamwSettings& settings);

}  // namespace plain
