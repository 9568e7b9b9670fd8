#include "bench/plain_loops.h"

#include <algorithm>
#include <cmath>

namespace plain {

void silu(const float* __restrict x, float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] / (1 + std::exp(-x[i]));
}

void gelu(const float* __restrict x, float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f));
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

void adamw(float* __restrict parameters, const float* __restrict gradient, float* __restrict first_moment,
           float* __restrict second_moment, std::int64_t count, const AdamwSettings& settings) {
  const auto [learning_rate, beta1, beta2, epsilon, weight_decay, step] = settings;
  const float correction1 = 1 / (1 - std::pow(beta1, static_cast<float>(step)));
  const float correction2 = 1 / (1 - std::pow(beta2, static_cast<float>(step)));
  for (std::int64_t i = 0; i < count; ++i) {
    first_moment[i] = beta1 * first_moment[i] + (1 - beta1) * gradient[i];
    second_moment[i] = beta2 * second_moment[i] + (1 - beta2) * gradient[i] * gradient[i];
    const float update = first_moment[i] * correction1 / (std::sqrt(second_moment[i] * correction2) + epsilon);
    parameters[i] -= learning_rate * (update + weight_decay * parameters[i]);
  }
}

}  // namespace plain
