// Vector convolution: a patch is copied once into a packed row, which then meets every filter as a dot product.
#include "kernels/linear/convolution/conv2d.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/convolution/conv2d_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/linear/instructions/dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// The pixels under output (i, j) of image b, in the order of a filter's weights; padding is 0.
void copy_patch(const Conv2d::Arguments& a, std::int64_t b, std::int64_t i, std::int64_t j, float* patch) {
  for (std::int64_t c = 0; c < a.weights.size(1); ++c) {
    for (std::int64_t u = 0; u < a.weights.size(2); ++u) {
      for (std::int64_t v = 0; v < a.weights.size(3); ++v) {
        const ConvolutionPixel pixel = convolution_pixel(a, i, j, u, v);
        *patch++ = pixel.is_inside ? a.x(b, c, pixel.row, pixel.column) : 0.0f;
      }
    }
  }
}

void conv2d(const Conv2d::Arguments& a, Context& context) {
  const std::int64_t filters = a.weights.size(0);
  const std::int64_t depth = a.weights.size(1) * a.weights.size(2) * a.weights.size(3);
  const std::int64_t width = a.y.size(3);
  const std::int64_t pixels = a.y.size(2) * width;
  auto* patches = reinterpret_cast<float*>(context.scratch.data());
  const std::int64_t chunk = rows_per_chunk(depth * (filters + 1) * static_cast<std::int64_t>(sizeof(float)));
  context.workers.for_chunks(a.y.size(0) * pixels, chunk, [&](std::int64_t begin, std::int64_t end, int worker) {
    float* patch = patches + worker * depth;
    for (std::int64_t position = begin; position < end; ++position) {
      const std::int64_t b = position / pixels;
      const std::int64_t i = position % pixels / width;
      const std::int64_t j = position % width;
      copy_patch(a, b, i, j, patch);
      for (std::int64_t n = 0; n < filters; ++n) {
        const float sum = dot(patch, a.weights.data() + n * depth, depth);
        a.y(b, n, i, j) = is_present(a.bias) ? sum + a.bias(n) : sum;
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Conv2d> conv2d_simd = INGOT_SIMD_ENTRIES(conv2d);
}  // namespace ingot
#endif
