// Vector weights, bit for bit those of weight.h, and the first two passes of a softmax: the largest logit of each row,
// and the sums of its blocks. Included inside a vector source after hwy/highway.h; the include guard toggles with each
// target, as Highway asks of such headers.
#if defined(INGOT_KERNELS_SAMPLING_WEIGHT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_SAMPLING_WEIGHT_INL_H_
#undef INGOT_KERNELS_SAMPLING_WEIGHT_INL_H_
#else
#define INGOT_KERNELS_SAMPLING_WEIGHT_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/contract/context.h"
#include "kernels/sampling/weight.h"
#include "kernels/vector/order_key-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

using WeightTag = hwy::HWY_NAMESPACE::CappedTag<double, sampling::partial_sums>;

template <class V>
HWY_INLINE V cut_vector(WeightTag d, V value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<WeightTag> du;
  return hn::BitCast(d, hn::And(hn::BitCast(du, value), hn::Set(du, sampling::kept_bits)));
}

// Weights of as many tokens as the tag has lanes.
HWY_INLINE auto weights(WeightTag d, const float* logits, float largest) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<float, WeightTag> df;
  const hn::RebindToUnsigned<WeightTag> du;
  const auto top = hn::Set(df, largest);
  const auto logit = hn::LoadU(df, logits);
  const auto difference = hn::IfThenZeroElse(hn::Eq(logit, top), hn::Sub(logit, top));
  const auto t = hn::PromoteTo(d, difference);
  const auto counts = hn::Ge(t, hn::Set(d, double{sampling::least_difference}));
  const auto n = hn::Round(hn::Mul(t, hn::Set(d, sampling::inverse_ln2)));
  // Products are exact (weight.h), so that fused multiply-adds, where there are any, give the same bits.
  const auto r = cut_vector(
      d, hn::NegMulAdd(n, hn::Set(d, sampling::ln2_low), hn::NegMulAdd(n, hn::Set(d, sampling::ln2_high), t)));
  auto p = hn::Set(d, sampling::taylor[7]);
  for (int power = 6; power >= 0; --power) {
    p = hn::MulAdd(cut_vector(d, p), r, hn::Set(d, sampling::taylor[power]));
  }
  // n + 1.5 * 2^52 holds n in its lowest bits: shifted up, they are the exponent of 2^n.
  const auto integer = hn::BitCast(du, hn::Add(n, hn::Set(d, 0x1.8p52)));
  const auto scale = hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(integer, hn::Set(du, std::uint64_t{1023}))));
  return hn::IfThenElseZero(counts, hn::Mul(p, scale));
}

HWY_INLINE double vector_block_sum(const float* logits, std::int64_t tokens, float largest) {
  namespace hn = hwy::HWY_NAMESPACE;
  const WeightTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN double sums[sampling::partial_sums] = {};
  std::int64_t i = 0;
  for (; i + sampling::partial_sums <= tokens; i += sampling::partial_sums) {
    for (std::int64_t lane = 0; lane < sampling::partial_sums; lane += lanes) {
      hn::Store(hn::Add(hn::Load(d, sums + lane), weights(d, logits + i + lane, largest)), d, sums + lane);
    }
  }
  for (; i < tokens; ++i) sums[i % sampling::partial_sums] += sampling::weight(logits[i], largest);
  return sampling::join_partial_sums(sums);
}

// Of each row: where its largest logit is, and the sums of its blocks. Rows without a candidate have no sums.
struct SoftmaxRows {
  std::int64_t* greatest;  // ranked (see order_key.h)
  double* block_sums;
  std::int64_t blocks;

  bool has_candidate(std::int64_t row) const {
    return key_of(greatest[row]) > order_key<NaNOrder::least>(-std::numeric_limits<float>::infinity());
  }
};

template <class LogitRows>
HWY_INLINE SoftmaxRows softmax_rows(const LogitRows& logits, Context& context) {
  const std::int64_t tokens = logits.length();
  SoftmaxRows result;
  result.greatest = reinterpret_cast<std::int64_t*>(context.scratch.data());
  result.block_sums = reinterpret_cast<double*>(result.greatest + logits.count());
  result.blocks = divide_rounding_up(tokens, sampling::block_tokens);
  context.workers.for_chunks(logits.count(), rows_per_chunk(4 * tokens),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               for (std::int64_t row = begin; row < end; ++row) {
                                 result.greatest[row] = greatest_ranked<NaNOrder::least>(logits[row], tokens, 0);
                               }
                             });
  constexpr std::int64_t blocks_per_chunk = 8;  // about 10 us of exponentials
  context.workers.for_chunks(
      logits.count() * result.blocks, blocks_per_chunk, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t row = item / result.blocks;
          if (!result.has_candidate(row)) continue;
          const std::int64_t first = item % result.blocks * sampling::block_tokens;
          result.block_sums[item] =
              vector_block_sum(logits[row] + first, HWY_MIN(sampling::block_tokens, tokens - first),
                               logits[row][index_of(result.greatest[row])]);
        }
      });
  return result;
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
