// Vector rotation with given tables: a token's row of cosines and sines stays in cache while its heads pass.
#include <algorithm>
#include <cstring>

#include "kernels/position/rope_apply.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/position/rope_apply_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/position/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void turn_all_by_table(const RopeApplyCall& call, Context& context) {
  const RopeApplyInputs& inputs = call.inputs;
  const auto token_bytes = call.x.size(1) * call.x.size(2) * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(call.x.size(0), rows_per_chunk(token_bytes),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               for (std::int64_t token = begin; token < end; ++token) {
                                 const std::int64_t row = inputs.row_of(token);
                                 turn_token(call.x, call.y, token, inputs.rotary_dimensions() / 2, inputs.style,
                                            call.direction, &inputs.cosine(row, 0), &inputs.sine(row, 0));
                               }
                             });
}

void rope_apply(const RopeApply::Arguments& arguments, Context& context) {
  turn_all_by_table(arguments.call(), context);
}
void rope_apply_backward(const RopeApplyBackward::Arguments& arguments, Context& context) {
  turn_all_by_table(arguments.call(), context);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<RopeApply> rope_apply_simd = INGOT_SIMD_ENTRIES(rope_apply);
const SimdEntries<RopeApplyBackward> rope_apply_backward_simd = INGOT_SIMD_ENTRIES(rope_apply_backward);
}  // namespace ingot
#endif
