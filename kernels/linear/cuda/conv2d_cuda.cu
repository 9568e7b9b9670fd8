// A thread for an element of y: its neighbours read the same weights, and pixels beside its own. Each channel is summed
// from zero.
#include "kernels/linear/cuda/conv2d_cuda.h"

#include "kernels/device/language.h"
#include "kernels/device/numbers.h"

namespace ingot::device {
namespace {

// Taps of one axis that meet the image: from `first` until `last`, of which tap u reads place `start` + u.
struct Taps {
  std::int32_t start, first, last;
};
INGOT_ON_DEVICE Taps taps_of(unsigned place, std::int32_t stride, std::int32_t padding, unsigned taps, unsigned size) {
  const std::int32_t start = static_cast<std::int32_t>(place) * stride - padding;
  const std::int32_t left = static_cast<std::int32_t>(size) - start;
  const auto all = static_cast<std::int32_t>(taps);
  return {start, start < 0 ? -start : 0, left < all ? left : all};
}

}  // namespace

INGOT_DEVICE_FUNCTION(convolve, Convolution, 256) {
  const std::uint64_t place = std::uint64_t{block_index()} * thread_count() + thread_index();
  if (place >= parameters.count) return;
  const auto& y = parameters.y;
  const auto j = static_cast<unsigned>(place % y.sizes[3]);
  const std::uint64_t row = place / y.sizes[3];
  const auto i = static_cast<unsigned>(row % y.sizes[2]);
  const std::uint64_t plane = row / y.sizes[2];
  const auto filter = static_cast<unsigned>(plane % y.sizes[1]);
  const auto image = static_cast<unsigned>(plane / y.sizes[1]);

  const auto& weights = parameters.weights;
  const auto& x = parameters.x;
  const Taps rows = taps_of(i, parameters.stride_height, parameters.padding_height, weights.sizes[2], x.sizes[2]);
  const Taps columns = taps_of(j, parameters.stride_width, parameters.padding_width, weights.sizes[3], x.sizes[3]);
  float total = 0;
  for (unsigned channel = 0; channel < weights.sizes[1]; ++channel) {
    float sum = 0;
    for (std::int32_t u = rows.first; u < rows.last; ++u) {
      const float* const pixels = &x(image, channel, rows.start + u, 0);
      const float* const taps = &weights(filter, channel, u, 0);
      for (std::int32_t v = columns.first; v < columns.last; ++v) {
        sum = fused_multiply_add(pixels[columns.start + v], taps[v], sum);
      }
    }
    total = total + sum;
  }
  if (parameters.bias != nullptr) total = total + parameters.bias[filter];
  y(image, filter, i, j) = total;
}

}  // namespace ingot::device
