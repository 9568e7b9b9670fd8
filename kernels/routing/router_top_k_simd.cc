// Vector router: tokens over threads, softmax's exponentials in lanes. Only the k chosen scores are needed one by one,
// so they are computed in double. Under a bias, or in groups, every score takes part in the choice and must be the
// reference's to the last bit: that path is the reference's own, over threads.
#include <cmath>

#include "kernels/routing/router_top_k.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/routing/router_top_k_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
float sum_of_exponentials(D d, const float* values, std::int64_t count, float greatest, std::int64_t& done) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  for (; done + lanes <= count; done += lanes) {
    sum = hn::Add(sum, exp_of(d, hn::Sub(hn::LoadU(d, values + done), hn::Set(d, greatest))));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// What the scores of one token are made of.
struct TokenScores {
  const float* logits;
  RouterScore score;
  double greatest = 0;  // for softmax
  double sum = 1;

  double of(std::int32_t expert) const {
    if (score == RouterScore::sigmoid) return 1 / (1 + std::exp(-double{logits[expert]}));
    return std::exp(logits[expert] - greatest) / sum;
  }
};

void route_by_logits(const RouterTopK::Arguments& a, std::int64_t token) {
  const std::int64_t experts = a.logits.size(1);
  const std::span<const float> logits(&a.logits(token, 0), static_cast<std::size_t>(experts));
  const std::span<std::int32_t> chosen(&a.indices(token, 0), static_cast<std::size_t>(a.indices.size(1)));
  choose_greatest<float>(logits, chosen);
  TokenScores scores{logits.data(), a.score};
  if (a.score == RouterScore::softmax) {
    const float greatest = logits[static_cast<std::size_t>(chosen[0])];
    std::int64_t done = 0;
    float sum = sum_of_exponentials(hn::ScalableTag<float>(), logits.data(), experts, greatest, done);
    sum += sum_of_exponentials(hn::CappedTag<float, 1>(), logits.data(), experts, greatest, done);
    scores.greatest = greatest;
    scores.sum = sum;
  }
  double divisor = 1;
  if (a.normalise) {
    divisor = router_least_sum;
    for (std::int32_t expert : chosen) divisor += scores.of(expert);
  }
  float* weights = &a.weights(token, 0);
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    weights[j] = static_cast<float>(double{a.scaling} * scores.of(chosen[j]) / divisor);
  }
}

void router_top_k(const RouterTopK::Arguments& a, Context& context) {
  if (a.logits.empty()) return;
  const bool compares_scores = a.compares_scores();
  const auto experts = static_cast<std::size_t>(a.logits.size(1));
  auto* scratch = reinterpret_cast<double*>(context.scratch.data());
  // An exponential takes the time of some 16 bytes of streaming in lanes, and of 128 in double.
  const std::int64_t token_bytes = a.logits.size(1) * (compares_scores ? 128 : 16) + a.indices.size(1) * 128;
  context.workers.for_chunks(a.logits.size(0), rows_per_chunk(token_bytes),
                             [&](std::int64_t begin, std::int64_t end, int worker) {
                               double* const memory = scratch + static_cast<std::size_t>(worker) * 2 * experts;
                               for (std::int64_t token = begin; token < end; ++token) {
                                 if (compares_scores) {
                                   route_token(a, token, {memory, experts}, {memory + experts, experts});
                                 } else {
                                   route_by_logits(a, token);
                                 }
                               }
                             });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<RouterTopK> router_top_k_simd = INGOT_SIMD_ENTRIES(router_top_k);
}  // namespace ingot
#endif
