// A warp a token. What is compared is turned into integers of the same order; each of the k choices is the greatest of
// what comes after the choice before it, so nothing has to be marked as taken.
#include "kernels/routing/router_top_k_cuda.h"

#include "kernels/device/numbers.h"
#include "kernels/device/warp.h"

namespace ingot::device {
namespace {

// The scores of one token, in double.
struct TokenScores {
  const float* logits;
  bool is_sigmoid;
  double greatest = 0;  // for softmax
  double sum = 1;

  INGOT_ON_DEVICE double of(std::uint32_t expert) const {
    const auto logit = static_cast<double>(logits[expert]);
    if (is_sigmoid) return 1 / (1 + exponential(-logit));
    return exponential(logit - greatest) / sum;
  }
};

INGOT_ON_DEVICE TokenScores scores_of(const float* logits, std::uint32_t experts, bool is_sigmoid) {
  TokenScores scores = {logits, is_sigmoid};
  if (is_sigmoid) return scores;
  float greatest = -infinity;
  bool has_nan = false;
  for (std::uint32_t e = lane_index(); e < experts; e += warp_size) {
    has_nan = has_nan || is_nan(logits[e]);
    greatest = maximum(greatest, logits[e]);
  }
  greatest = warp_maximum(greatest);
  scores.greatest = static_cast<double>(any_lane(has_nan) ? float_of_bits(0x7fc00000u) : greatest);
  double sum = 0;
  for (std::uint32_t e = lane_index(); e < experts; e += warp_size) {
    sum += exponential(static_cast<double>(logits[e]) - scores.greatest);
  }
  scores.sum = warp_sum(sum);
  return scores;
}

// NaN below every number, and one key for both zeros.
INGOT_ON_DEVICE std::int64_t key_of(double value) {
  if (value != value) return INT64_MIN;
  const auto bits = static_cast<std::int64_t>(bits_of(value + 0.0));
  return bits ^ (bits >> 63 & INT64_MAX);
}

INGOT_ON_DEVICE bool goes_before(const Indexed<std::int64_t>& a, const Indexed<std::int64_t>& b) {
  return a.value > b.value || (a.value == b.value && a.index < b.index);
}

INGOT_ON_DEVICE void choose_experts(const RouterRows& parameters, const TokenScores& scores, std::int32_t* indices) {
  const std::uint32_t experts = parameters.logits.length;
  Indexed<std::int64_t> last = {INT64_MAX, -1};  // before all: no number has this key
  for (std::uint32_t choice = 0; choice < parameters.indices.length; ++choice) {
    Indexed<std::int64_t> best = {INT64_MIN, INT32_MAX};  // behind all
    for (std::uint32_t e = lane_index(); e < experts; e += warp_size) {
      const double value = parameters.bias == nullptr
                               ? static_cast<double>(scores.logits[e])
                               : scores.of(e) + static_cast<double>(parameters.bias[e * parameters.bias_stride]);
      const Indexed<std::int64_t> one = {key_of(value), static_cast<std::int32_t>(e)};
      if (goes_before(last, one) && goes_before(one, best)) best = one;
    }
    last = warp_reduce(best, FirstGreatest{});
    if (lane_index() == 0) indices[choice] = last.index;
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(router_rows, RouterRows, 256) {
  const std::uint32_t token = block_index() * warp_count() + warp_index();
  if (token >= parameters.logits.count) return;  // a whole warp: nobody waits for it
  const std::uint32_t chosen = parameters.indices.length;
  std::int32_t* const indices = parameters.indices.row(token);
  float* const weights = parameters.weights.row(token);
  const TokenScores scores = scores_of(parameters.logits.row(token), parameters.logits.length, parameters.is_sigmoid);
  choose_experts(parameters, scores, indices);
  synchronize_warp();  // all lanes see the choices
  double sum = 0;
  if (parameters.normalises) {
    for (std::uint32_t j = lane_index(); j < chosen; j += warp_size) {
      sum += scores.of(static_cast<std::uint32_t>(indices[j]));
    }
    sum = warp_sum(sum) + parameters.least_sum;
  } else {
    sum = 1;
  }
  for (std::uint32_t j = lane_index(); j < chosen; j += warp_size) {
    const double score = scores.of(static_cast<std::uint32_t>(indices[j]));
    weights[j] = static_cast<float>(static_cast<double>(parameters.scaling) * score / sum);
  }
}

}  // namespace ingot::device
