// Vector rotary embedding. A token's angles are computed once, in vectors of double, and serve all of its heads, so
// that what remains is a copy with a few multiplications on the way.
#include <algorithm>
#include <cstring>

#include "kernels/position/rope.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/position/rope_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/position/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void turn_all(const RopeCall& call, Context& context) {
  const RopeInputs& inputs = call.inputs;
  const std::int64_t pairs = inputs.rotary_dimensions / 2;
  const std::int64_t padded = pairs + turn_padding;
  auto* frequencies = reinterpret_cast<double*>(context.scratch.data());
  auto* tables = reinterpret_cast<float*>(frequencies + padded);
  rotation_frequencies(inputs, {frequencies, static_cast<std::size_t>(pairs)});
  std::fill(frequencies + pairs, frequencies + padded, 0.0);
  const double magnitude = rotation_magnitude(inputs);
  const auto token_bytes = call.x.size(1) * call.x.size(2) * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(
      call.x.size(0), rows_per_chunk(token_bytes), [&](std::int64_t begin, std::int64_t end, int worker) {
        float* cosine = tables + worker * 2 * padded;
        float* sine = cosine + padded;
        for (std::int64_t token = begin; token < end; ++token) {
          inputs.for_each_section(token, [&](std::int64_t first, std::int64_t last, std::int64_t position) {
            fill_turns(frequencies, first, last, position, magnitude, cosine, sine);
          });
          turn_token(call.x, call.y, token, pairs, inputs.style, call.direction, cosine, sine);
        }
      });
}

void rope(const Rope::Arguments& arguments, Context& context) { turn_all(arguments.call(), context); }
void rope_backward(const RopeBackward::Arguments& arguments, Context& context) { turn_all(arguments.call(), context); }

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Rope> rope_simd = INGOT_SIMD_ENTRIES(rope);
const SimdEntries<RopeBackward> rope_backward_simd = INGOT_SIMD_ENTRIES(rope_backward);
}  // namespace ingot
#endif
