// Vector functions of one tensor over the longest joint rows.
#include <type_traits>

#include "hwy/cache_control.h"
#include "kernels/elementwise/axis_walk.h"
#include "kernels/elementwise/streaming.h"
#include "kernels/elementwise/unary.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/unary_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"
#include "kernels/vector/stretch_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
struct UnaryFunction {
  const typename Op::Arguments& a;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (std::is_same_v<Op, Clamp>) {
      const auto low = hn::Set(d, a.low);
      const auto high = hn::Set(d, a.high);
      return hn::IfThenElse(hn::Lt(x, low), low, hn::IfThenElse(hn::Gt(x, high), high, x));
    } else if constexpr (std::is_same_v<Op, Exponential>) {
      return exp_of(d, x);
    } else if constexpr (std::is_same_v<Op, SquareRoot>) {
      return hn::Sqrt(x);
    } else {
      return hn::Mul(x, hn::Set(d, a.factor));
    }
  }
  // The forward's x or y, and dy.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V kept, V dy) const {
    if constexpr (std::is_same_v<Op, ClampBackward>) {
      const auto inside = hn::And(hn::Ge(kept, hn::Set(d, a.low)), hn::Le(kept, hn::Set(d, a.high)));
      return hn::IfThenElseZero(inside, dy);
    } else if constexpr (std::is_same_v<Op, ExponentialBackward>) {
      return hn::Mul(dy, kept);
    } else {
      return hn::Div(dy, hn::Add(kept, kept));
    }
  }
};

template <class Op>
void unary(const typename Op::Arguments& arguments, Context& context) {
  const View<float>& target = arguments.target();
  const auto sources = arguments.sources();
  const UnaryFunction<Op> function{arguments};
  if constexpr (sources.size() == 1) {
    const bool streams = streams_past_caches(target, sources[0]);
    const JointRows<2> rows(target.shape(), {target.strides(), sources[0].strides()});
    rows.for_pieces(context.workers, [&](const Offsets<2>& at, std::int64_t length) {
      float* y = target.data() + at[0];
      const FromMemory x{sources[0].data() + at[1]};
      if (streams)
        map_stretch_streaming(function, y, length, x);
      else
        map_stretch(function, y, length, x);
    });
  } else {
    const bool streams = streams_past_caches(target, sources[0], sources[1]);
    const JointRows<3> rows(target.shape(), {target.strides(), sources[0].strides(), sources[1].strides()});
    rows.for_pieces(context.workers, [&](const Offsets<3>& at, std::int64_t length) {
      float* dx = target.data() + at[0];
      const FromMemory kept{sources[0].data() + at[1]};
      const FromMemory dy{sources[1].data() + at[2]};
      if (streams)
        map_stretch_streaming(function, dx, length, kept, dy);
      else
        map_stretch(function, dx, length, kept, dy);
    });
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <class Op>
const SimdEntries<Op>& unary_simd() {
  static const SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(unary<Op>);
  return entries;
}
template const SimdEntries<Scale>& unary_simd<Scale>();
template const SimdEntries<ScaleBackward>& unary_simd<ScaleBackward>();
template const SimdEntries<Clamp>& unary_simd<Clamp>();
template const SimdEntries<ClampBackward>& unary_simd<ClampBackward>();
template const SimdEntries<Exponential>& unary_simd<Exponential>();
template const SimdEntries<ExponentialBackward>& unary_simd<ExponentialBackward>();
template const SimdEntries<SquareRoot>& unary_simd<SquareRoot>();
template const SimdEntries<SquareRootBackward>& unary_simd<SquareRootBackward>();

}  // namespace ingot
#endif
