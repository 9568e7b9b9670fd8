// Vector arithmetic over the longest joint rows of the tensors.
#include "hwy/cache_control.h"
#include "kernels/elementwise/axis_walk.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/streaming.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/binary_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/stretch_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
struct Arithmetic {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    if constexpr (std::is_same_v<Op, Add>)
      return hn::Add(a, b);
    else if constexpr (std::is_same_v<Op, Subtract>)
      return hn::Sub(a, b);
    else if constexpr (std::is_same_v<Op, Multiply>)
      return hn::Mul(a, b);
    else
      return hn::Div(a, b);
  }
};

template <class Op>
void binary(const BinaryArguments& arguments, Context& context) {
  const Shape& shape = arguments.a.shape();
  const JointRows<3, LastTensor::may_repeat> rows(
      shape, {arguments.y.strides(), arguments.a.strides(), strides_within(arguments.b, shape)});
  const Arithmetic<Op> function;
  const bool streams = streams_past_caches(arguments.y, arguments.a, arguments.b);
  rows.for_pieces(context.workers, [&](const Offsets<3>& at, std::int64_t length) {
    float* y = arguments.y.data() + at[0];
    const FromMemory a{arguments.a.data() + at[1]};
    const float* b = arguments.b.data() + at[2];
    if (rows.last_repeats()) {
      map_stretch(function, y, length, a, Repeated{*b});
    } else if (streams) {
      map_stretch_streaming(function, y, length, a, FromMemory{b});
    } else {
      map_stretch(function, y, length, a, FromMemory{b});
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Op>
const SimdEntries<Op>& binary_simd() {
  static const SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(binary<Op>);
  return entries;
}
template const SimdEntries<Add>& binary_simd<Add>();
template const SimdEntries<Subtract>& binary_simd<Subtract>();
template const SimdEntries<Multiply>& binary_simd<Multiply>();
template const SimdEntries<Divide>& binary_simd<Divide>();

}  // namespace ingot
#endif
