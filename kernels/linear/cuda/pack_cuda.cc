#include "kernels/linear/cuda/pack_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/pack/pack.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(pack_cuda);
INGOT_DEVICE_FUNCTION_OF(pack_cuda, pack_planes);

constexpr std::int64_t warps = 8;

void run_pack(const Pack::Arguments& a, Context& context) {
  if (a.packed.count() == 0) return;
  const std::int64_t sixteens = a.rows.size(0) / plane_rows, spans = a.rows.size(1) / plane_depth;
  context.queue->launch(
      pack_planes_function,
      {.blocks = static_cast<std::uint32_t>(divide_rounding_up(sixteens * spans, warps)), .threads = 32 * warps},
      PackedPlanes{.rows = a.rows.data(),
                   .row_bytes = a.rows.byte_stride(0),
                   .tiles = a.packed.data(),
                   .sixteens = static_cast<std::uint32_t>(sixteens),
                   .spans = static_cast<std::uint32_t>(spans),
                   .type = a.rows.dtype()});
}

}  // namespace

constinit const Variant<Pack> pack_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_pack,
    // Interleaved rows are how the host's instructions want weights: nobody puts them on a device.
    .accepts =
        [](const Pack::Arguments& a) {
          return a.layout == WeightLayout::planes16 && fits_device(a.rows.shape()) &&
                 reinterpret_cast<std::uintptr_t>(a.packed.data()) % 16 == 0;
        },
    .device_function = &pack_planes_function};

}  // namespace ingot
