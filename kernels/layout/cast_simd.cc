// Vector casts: every pair of the types that fit an f32 lane goes through one, which the contract allows (integers
// reach the 16-bit floats by way of f32, and 8-bit integers are exact there).
#include <algorithm>

#include "kernels/layout/cast.h"
#include "kernels/layout/movement.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layout/cast_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/layout/move-inl.h"
#include "kernels/vector/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

template <class From, class To>
void cast_rows(const Movement& movement, Context& context) {
  const std::int64_t from_step = movement.from_step() / static_cast<std::int64_t>(sizeof(From));
  const std::int64_t to_step = movement.to_step() / static_cast<std::int64_t>(sizeof(To));
  for_each_segment(movement, context, [&](const std::byte* source, std::byte* target, std::int64_t count) {
    const auto* from = reinterpret_cast<const From*>(source);
    auto* to = reinterpret_cast<To*>(target);
    if (from_step == 1 && to_step == 1) return convert_stretch(from, to, count);
    // Scattered elements are collected, converted and laid out again.
    constexpr std::int64_t piece = 256;
    From collected[piece];
    To converted[piece];
    for (std::int64_t begin = 0; begin < count; begin += piece) {
      const std::int64_t size = std::min(piece, count - begin);
      for (std::int64_t i = 0; i < size; ++i) collected[i] = from[(begin + i) * from_step];
      convert_stretch(collected, converted, size);
      for (std::int64_t i = 0; i < size; ++i) to[(begin + i) * to_step] = converted[i];
    }
  });
}

template <class From>
void cast_from(DType to, const Movement& movement, Context& context) {
  switch (to) {
    case DType::f16: return cast_rows<From, Half>(movement, context);
    case DType::bf16: return cast_rows<From, BFloat16>(movement, context);
    case DType::i8: return cast_rows<From, std::int8_t>(movement, context);
    case DType::u8: return cast_rows<From, std::uint8_t>(movement, context);
    case DType::i32: return cast_rows<From, std::int32_t>(movement, context);
    default: return cast_rows<From, float>(movement, context);
  }
}

void cast_elements(const ConstAnyView& x, const AnyView& y, Context& context) {
  if (x.dtype() == y.dtype()) return move_elements(x, y, context);
  const Movement movement(x, y);
  if (movement.empty) return;
  switch (x.dtype()) {
    case DType::f16: return cast_from<Half>(y.dtype(), movement, context);
    case DType::bf16: return cast_from<BFloat16>(y.dtype(), movement, context);
    case DType::i8: return cast_from<std::int8_t>(y.dtype(), movement, context);
    case DType::u8: return cast_from<std::uint8_t>(y.dtype(), movement, context);
    case DType::i32: return cast_from<std::int32_t>(y.dtype(), movement, context);
    default: return cast_from<float>(y.dtype(), movement, context);
  }
}

void cast(const Cast::Arguments& a, Context& context) { cast_elements(a.x, a.y, context); }
void cast_backward(const CastBackward::Arguments& a, Context& context) { cast_elements(a.dy, a.dx, context); }

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Cast> cast_simd = INGOT_SIMD_ENTRIES(cast);
const SimdEntries<CastBackward> cast_backward_simd = INGOT_SIMD_ENTRIES(cast_backward);
}  // namespace ingot
#endif
