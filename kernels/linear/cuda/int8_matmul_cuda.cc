#include "kernels/linear/cuda/int8_matmul_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/int8/int8_matmul.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(int8_matmul_cuda);
INGOT_DEVICE_FUNCTION_OF(int8_matmul_cuda, multiply_int8);

template <class Element>
PerRow<Element> of_rows(const View<const Element>& view) {
  if (!is_present(view)) return {nullptr, 0};
  return {view.data(), view.size(0) == 1 ? 0 : view.stride(0)};
}

Int8Factor factor_of(const ConstAnyView& codes, const View<const float>& scale, const View<const std::int32_t>& zero) {
  return {.data = reinterpret_cast<const std::uint8_t*>(codes.data()),
          .stride = codes.byte_stride(0),
          .scale = of_rows(scale),
          .zero = of_rows(zero),
          .rows = static_cast<std::uint32_t>(codes.size(0)),
          .is_unsigned = codes.dtype() == DType::u8};
}

void run_int8(const Int8Matmul::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const Int8Products products = {.x = factor_of(a.x, a.x_scale, a.x_zero),
                                 .weights = factor_of(a.weights, a.weight_scale, a.weight_zero),
                                 .depth = static_cast<std::uint32_t>(a.x.size(1)),
                                 .bias = a.bias.data(),
                                 .y = a.y.data(),
                                 .y_stride = a.y.stride(0),
                                 .accumulators = a.accumulators.data(),
                                 .accumulators_stride = is_present(a.accumulators) ? a.accumulators.stride(0) : 0};
  constexpr std::uint32_t tokens = 8 * int8_tiles;
  context.queue->launch(multiply_int8_function,
                        {.blocks = (products.weights.rows + int8_columns - 1) / int8_columns,
                         .blocks_y = (products.x.rows + tokens - 1) / tokens,
                         .threads = 32 * int8_warps},
                        products);
}

}  // namespace

constinit const Variant<Int8Matmul> int8_matmul_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_int8,
    .accepts =
        [](const Int8Matmul::Arguments& a) {
          constexpr std::int64_t most_tokens = std::int64_t{1} << 20;  // an axis has 65,535 blocks
          return fits_device(a.weights.shape()) && a.x.size(0) < most_tokens;
        },
    .device_function = &multiply_int8_function};

}  // namespace ingot
