#include "kernels/device/windows.h"
#include "kernels/position/rope_apply.h"
#include "kernels/position/turned_heads.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(rope_apply_cuda);
INGOT_DEVICE_FUNCTION_OF(rope_apply_cuda, rope_apply_heads);

void run_rope_apply(const RopeApply::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const RopeApplyCall call = a.call();
  const RopeApplyHeads heads = {
      .heads = turned_heads(call.x, call.y, a.cosine.size(1), a.style, call.direction),
      .cosine = device_tensor(a.cosine),
      .sine = device_tensor(a.sine),
      .positions = is_present(a.positions) ? device_tensor(a.positions) : DeviceTensor<const std::int32_t>()};
  context.queue->launch(rope_apply_heads_function, shape_of(heads.heads, a.x.size(0)), heads);
}

}  // namespace

constinit const Variant<RopeApply> rope_apply_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_rope_apply,
    .accepts = [](const RopeApply::Arguments& a) { return fits_device(a.x.shape()) && fits_device(a.cosine.shape()); },
    .device_function = &rope_apply_heads_function};

}  // namespace ingot
