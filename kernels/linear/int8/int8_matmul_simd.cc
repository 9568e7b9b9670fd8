// Vector int8 product. Zero points are taken out of the inner loop:
//
//   sum (x - zx)(w - zw) = sum x w  -  zw sum x  -  zx sum w  +  K zx zw
//
// All four sums are exact in 32 bits under C1 (wrapping differences of exact sums are exact, too).
#include "kernels/linear/int8/int8_matmul.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/int8/int8_matmul_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t weight_rows_at_once = 4;

// Signed bytes are summed as unsigned ones that are 128 larger.
std::uint32_t sum_of_row(const ConstAnyView& view, std::int64_t row) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::uint64_t, decltype(d8)> d64;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d8));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(view.row(row));
  const std::uint8_t flip = view.dtype() == DType::u8 ? 0 : 0x80;
  const auto flips = hn::Set(d8, flip);
  auto sums = hn::Zero(d64);
  std::int64_t k = 0;
  for (; k + lanes <= view.size(1); k += lanes) {
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d8, bytes + k), flips)));
  }
  auto sum = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, sums)));
  for (; k < view.size(1); ++k) sum += static_cast<std::uint8_t>(bytes[k] ^ flip);
  return sum - flip * static_cast<std::uint32_t>(view.size(1));
}

// Dot products of one x row with up to four weight rows: x is widened once for all of them.
template <class X, class W>
void dot_rows(const X* x, const W* const* weights, std::int64_t count, std::int64_t length, std::uint32_t* sums) {
  const hn::ScalableTag<std::int16_t> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Rebind<X, decltype(d16)> dx;
  const hn::Rebind<W, decltype(d16)> dw;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d16));
  auto low0 = hn::Zero(d32), low1 = hn::Zero(d32), low2 = hn::Zero(d32), low3 = hn::Zero(d32);
  auto high0 = hn::Zero(d32), high1 = hn::Zero(d32), high2 = hn::Zero(d32), high3 = hn::Zero(d32);
  std::int64_t k = 0;
  for (; k + lanes <= length; k += lanes) {
    const auto wide = hn::PromoteTo(d16, hn::LoadU(dx, x + k));
    auto widened = [&](std::int64_t row) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(dw, weights[row] + k)); };
    low0 = hn::ReorderWidenMulAccumulate(d32, wide, widened(0), low0, high0);
    if (count < 2) continue;
    low1 = hn::ReorderWidenMulAccumulate(d32, wide, widened(1), low1, high1);
    if (count < 3) continue;
    low2 = hn::ReorderWidenMulAccumulate(d32, wide, widened(2), low2, high2);
    if (count < 4) continue;
    low3 = hn::ReorderWidenMulAccumulate(d32, wide, widened(3), low3, high3);
  }
  auto total = [&](auto low, auto high) HWY_ATTR {
    return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d32, hn::Add(low, high))));
  };
  sums[0] = total(low0, high0);
  sums[1] = total(low1, high1);
  sums[2] = total(low2, high2);
  sums[3] = total(low3, high3);
  for (; k < length; ++k) {
    for (std::int64_t row = 0; row < count; ++row) {
      sums[row] += static_cast<std::uint32_t>(std::int32_t{x[k]} * weights[row][k]);
    }
  }
}

template <class X, class W>
void multiply(const Int8Matmul::Arguments& a, Context& context) {
  const std::int64_t rows = a.x.size(0);
  const std::int64_t length = a.x.size(1);
  auto* x_sums = reinterpret_cast<std::uint32_t*>(context.scratch.data());
  for (std::int64_t m = 0; m < rows; ++m) x_sums[m] = sum_of_row(a.x, m);
  const std::int64_t chunk =
      divide_rounding_up(rows_per_chunk(length * (rows + 1)), weight_rows_at_once) * weight_rows_at_once;
  context.workers.for_chunks(a.weights.size(0), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t first = begin; first < end; first += weight_rows_at_once) {
      const std::int64_t count = std::min(weight_rows_at_once, end - first);
      const W* weights[weight_rows_at_once] = {};
      std::uint32_t weight_sums[weight_rows_at_once] = {};
      for (std::int64_t row = 0; row < count; ++row) {
        weights[row] = reinterpret_cast<const W*>(a.weights.row(first + row));
        weight_sums[row] = sum_of_row(a.weights, first + row);
      }
      for (std::int64_t m = 0; m < rows; ++m) {
        std::uint32_t sums[weight_rows_at_once];
        dot_rows(reinterpret_cast<const X*>(a.x.row(m)), weights, count, length, sums);
        const auto x_zero = static_cast<std::uint32_t>(per_row(a.x_zero, m));
        for (std::int64_t row = 0; row < count; ++row) {
          const auto weight_zero = static_cast<std::uint32_t>(per_row(a.weight_zero, first + row));
          const std::uint32_t accumulator = sums[row] - weight_zero * x_sums[m] - x_zero * weight_sums[row] +
                                            static_cast<std::uint32_t>(length) * x_zero * weight_zero;
          finish_int8(a, m, first + row, static_cast<std::int32_t>(accumulator));
        }
      }
    }
  });
}

void int8_matmul(const Int8Matmul::Arguments& a, Context& context) {
  const bool x_unsigned = a.x.dtype() == DType::u8;
  const bool weights_unsigned = a.weights.dtype() == DType::u8;
  if (x_unsigned && weights_unsigned) return multiply<std::uint8_t, std::uint8_t>(a, context);
  if (x_unsigned) return multiply<std::uint8_t, std::int8_t>(a, context);
  if (weights_unsigned) return multiply<std::int8_t, std::uint8_t>(a, context);
  multiply<std::int8_t, std::int8_t>(a, context);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Int8Matmul> int8_matmul_simd = INGOT_SIMD_ENTRIES(int8_matmul);
}  // namespace ingot
#endif
