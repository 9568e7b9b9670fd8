#include "bench/plain_loops.h"

#include <algorithm>
#include <cmath>

namespace plain {

void copy(const float* __restrict x, float* __restrict y, std::int64_t count) {
  // A loop, not memcpy: the barrier keeps the compiler from making it one, whose stores may bypass the cache.
  for (std::int64_t i = 0; i < count; ++i) {
    float value = x[i];
    y[i] = -value;
  }
}

void relu(const float* __restrict x, float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}

void silu(const float* __restrict x, float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] / (1 + std::exp(-x[i]));
}

void gelu(const float* __restrict x, float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f));
}

void rms_norm(const float* __restrict x, const float* __restrict gamma, float epsilon, float* __restrict y,
              std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    float sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += x[i] * x[i];
    const float scale = 1 / std::sqrt(sum / static_cast<float>(width) + epsilon);
    for (std::int64_t i = 0; i < width; ++i) y[i] = gamma[i] * x[i] * scale;
  }
}

void softmax(const float* __restrict x, float* __restrict y, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    float largest = x[0];
    for (std::int64_t i = 1; i < width; ++i) largest = std::max(largest, x[i]);
    float sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (std::int64_t i = 0; i < width; ++i) y[i] /= sum;
  }
}

void adamw(float* __restrict parameter, const float* __restrict gradient, float* __restrict first,
           float* __restrict second, std::int64_t count, const AdamwSettings& settings) {
  const auto step = static_cast<float>(settings.step);
  const float rate1 = 1 / (1 - std::pow(settings.beta1, step));
  const float rate2 = 1 / (1 - std::pow(settings.beta2, step));
  for (std::int64_t i = 0; i < count; ++i) {
    first[i] = settings.beta1 * first[i] + (1 - settings.beta1) * gradient[i];
    second[i] = settings.beta2 * second[i] + (1 - settings.beta2) * gradient[i] * gradient[i];
    const float update = first[i] * rate1 / (std::sqrt(second[i] * rate2) + settings.epsilon);
    parameter[i] -= settings.learning_rate * (update + settings.weight_decay * parameter[i]);
  }
}

}  // namespace plain
