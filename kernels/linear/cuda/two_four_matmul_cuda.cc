#include "kernels/linear/cuda/two_four_matmul_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/sparse/two_four_matmul.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(two_four_matmul_cuda);
INGOT_DEVICE_FUNCTION_OF(two_four_matmul_cuda, multiply_two_four);

void run_two_four(const TwoFourMatmul::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const TwoFourProducts products = {.x = a.x.data(),
                                    .x_stride = a.x.stride(0),
                                    .values = a.values.data(),
                                    .values_stride = a.values.stride(0),
                                    .positions = a.positions.data(),
                                    .positions_stride = a.positions.stride(0),
                                    .bias = a.bias.data(),
                                    .y = a.y.data(),
                                    .y_stride = a.y.stride(0),
                                    .rows = static_cast<std::uint32_t>(a.y.size(0)),
                                    .columns = static_cast<std::uint32_t>(a.y.size(1)),
                                    .fours = static_cast<std::uint32_t>(a.x.size(1) / 4)};
  context.queue->launch(multiply_two_four_function,
                        {.blocks = (products.columns + two_four_warps - 1) / two_four_warps,
                         .blocks_y = (products.rows + two_four_tokens - 1) / two_four_tokens,
                         .threads = 32 * two_four_warps},
                        products);
}

}  // namespace

constinit const Variant<TwoFourMatmul> two_four_matmul_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_two_four,
    .accepts =
        [](const TwoFourMatmul::Arguments& a) {
          constexpr std::int64_t most_tokens = 65535 * std::int64_t{two_four_tokens};  // as an axis has blocks
          return fits_device(a.x.shape()) && fits_device(a.values.shape()) && a.x.size(0) <= most_tokens;
        },
    .device_function = &multiply_two_four_function};

}  // namespace ingot
