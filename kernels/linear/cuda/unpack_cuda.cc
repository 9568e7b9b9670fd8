#include "kernels/linear/cuda/unpack_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/pack/pack.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(unpack_cuda);
INGOT_DEVICE_FUNCTION_OF(unpack_cuda, unpack_planes);
INGOT_DEVICE_FUNCTION_OF(unpack_cuda, unpack_braids);

constexpr std::int64_t threads_of_block = 256;

// How many threads take all of it: a warp has a tile of planes, a thread a block of a braid.
std::int64_t threads_for_all(const Unpack::Arguments& a) {
  if (a.layout == WeightLayout::planes16) return a.rows.size(0) / plane_rows * (a.rows.size(1) / plane_depth) * 32;
  return a.rows.size(0) * (a.rows.size(1) / block_elements(a.rows.dtype()));
}

void run_unpack(const Unpack::Arguments& a, Context& context) {
  if (a.packed.count() == 0) return;
  const bool is_planes = a.layout == WeightLayout::planes16;
  const std::int64_t span = is_planes ? plane_depth : block_elements(a.rows.dtype());
  context.queue->launch(is_planes ? unpack_planes_function : unpack_braids_function,
                        {.blocks = static_cast<std::uint32_t>(divide_rounding_up(threads_for_all(a), threads_of_block)),
                         .threads = static_cast<std::uint32_t>(threads_of_block)},
                        UnpackedRows{.packed = a.packed.data(),
                                     .rows = a.rows.data(),
                                     .row_bytes = a.rows.byte_stride(0),
                                     .row_count = static_cast<std::uint32_t>(a.rows.size(0)),
                                     .spans = static_cast<std::uint32_t>(a.rows.size(1) / span),
                                     .type = a.rows.dtype()});
}

}  // namespace

constinit const Variant<Unpack> unpack_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_unpack,
    // Units of planes are read whole: they begin where an allocation does.
    .accepts =
        [](const Unpack::Arguments& a) {
          return fits_device(a.rows.shape()) && threads_for_all(a) / threads_of_block < std::int64_t{1} << 31 &&
                 (a.layout != WeightLayout::planes16 || reinterpret_cast<std::uintptr_t>(a.packed.data()) % 16 == 0);
        },
    .device_function = &unpack_planes_function};

}  // namespace ingot
