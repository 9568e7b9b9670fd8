#include "kernels/linear/cuda/block_sparse_matmul_cuda.h"

#include <algorithm>

#include "kernels/device/windows.h"
#include "kernels/linear/sparse/block_sparse_matmul.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(block_sparse_matmul_cuda);
INGOT_DEVICE_FUNCTION_OF(block_sparse_matmul_cuda, multiply_block_sparse);

void run_block_sparse(const BlockSparseMatmul::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const BlockSparseProducts products = {.x = a.x.data(),
                                        .x_stride = a.x.stride(0),
                                        .values = a.values.data(),
                                        .row_offsets = a.row_offsets.data(),
                                        .row_offsets_stride = a.row_offsets.stride(0),
                                        .block_columns = a.block_columns.data(),
                                        .block_columns_stride = a.block_columns.stride(0),
                                        .bias = a.bias.data(),
                                        .y = a.y.data(),
                                        .y_stride = a.y.stride(0),
                                        .rows = static_cast<std::uint32_t>(a.y.size(0)),
                                        .columns = static_cast<std::uint32_t>(a.y.size(1)),
                                        .height = static_cast<std::uint32_t>(a.values.size(1)),
                                        .width = static_cast<std::uint32_t>(a.values.size(2))};
  constexpr std::uint32_t threads = 128;
  context.queue->launch(multiply_block_sparse_function,
                        {.blocks = (products.columns + threads - 1) / threads,
                         .blocks_y = std::min(products.rows, 65535u),
                         .threads = threads},
                        products);
}

}  // namespace

constinit const Variant<BlockSparseMatmul> block_sparse_matmul_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_block_sparse,
    .accepts =
        [](const BlockSparseMatmul::Arguments& a) {
          return fits_device(a.x.shape()) && fits_device(a.values.shape()) && fits_device(a.y.shape());
        },
    .device_function = &multiply_block_sparse_function};

}  // namespace ingot
