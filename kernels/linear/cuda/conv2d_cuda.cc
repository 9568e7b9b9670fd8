#include "kernels/linear/cuda/conv2d_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/convolution/conv2d.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(conv2d_cuda);
INGOT_DEVICE_FUNCTION_OF(conv2d_cuda, convolve);

constexpr std::int64_t convolution_threads = 256;

void run_conv2d(const Conv2d::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const std::int64_t count = a.y.count();
  context.queue->launch(convolve_function,
                        {.blocks = static_cast<std::uint32_t>((count + convolution_threads - 1) / convolution_threads),
                         .threads = static_cast<std::uint32_t>(convolution_threads)},
                        Convolution{.x = device_tensor(a.x),
                                    .weights = device_tensor(a.weights),
                                    .bias = a.bias.data(),
                                    .stride_height = a.stride_height,
                                    .stride_width = a.stride_width,
                                    .padding_height = a.padding_height,
                                    .padding_width = a.padding_width,
                                    .y = device_tensor(a.y),
                                    .count = static_cast<std::uint64_t>(count)});
}

}  // namespace

constinit const Variant<Conv2d> conv2d_cuda = {.name = "cuda",
                                               .needs = {Feature::sm_80},
                                               .run = run_conv2d,
                                               .accepts =
                                                   [](const Conv2d::Arguments& a) {
                                                     return fits_device(a.x.shape()) &&
                                                            fits_device(a.weights.shape()) &&
                                                            fits_device(a.y.shape()) &&
                                                            a.y.count() < convolution_threads << 31;
                                                   },
                                               .device_function = &convolve_function};

}  // namespace ingot
