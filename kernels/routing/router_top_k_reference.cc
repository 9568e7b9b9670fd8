// Scalar truth, in double.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/routing/router_top_k.h"

namespace ingot {
namespace {

std::span<const float> logits_of(const View<const float>& logits, std::int64_t token) {
  return {&logits(token, 0), static_cast<std::size_t>(logits.size(1))};
}

// What an expert is chosen by.
double choice_of(const RouterTopK::Arguments& a, std::span<const double> scores, std::int64_t expert) {
  const double bias = is_present(a.selection_bias) ? a.selection_bias(expert) : 0.0f;
  return scores[static_cast<std::size_t>(expert)] + bias;
}

// NaN counts for nothing: a group of nothing else has the least score there is.
double group_score(const RouterTopK::Arguments& a, std::span<const double> scores, std::int64_t group) {
  const std::int64_t size = a.logits.size(1) / a.groups;
  double best = -HUGE_VAL;
  double second = -HUGE_VAL;
  for (std::int64_t expert = group * size; expert < (group + 1) * size; ++expert) {
    const double choice = choice_of(a, scores, expert);
    if (choice > best)
      second = std::exchange(best, choice);
    else if (choice > second)
      second = choice;
  }
  return a.group_score == GroupScore::best || size == 1 ? best : best + second;
}

// Few groups: counting those that go before each needs no memory.
bool uses_group(const RouterTopK::Arguments& a, std::span<const double> scores, std::int64_t group) {
  const double score = group_score(a, scores, group);
  std::int64_t before = 0;
  for (std::int64_t other = 0; other < a.groups; ++other) {
    const double rival = group_score(a, scores, other);
    before += rival > score || (rival == score && other < group) ? 1 : 0;
  }
  return before < a.groups_used;
}

// Experts of groups that are not used rank below all others.
void choose_by_scores(const RouterTopK::Arguments& a, std::span<const double> scores, std::span<double> choice,
                      std::span<std::int32_t> chosen) {
  const std::int64_t size = a.logits.size(1) / a.groups;
  for (std::int64_t group = 0; group < a.groups; ++group) {
    const bool is_used = a.groups == 1 || uses_group(a, scores, group);
    for (std::int64_t expert = group * size; expert < (group + 1) * size; ++expert) {
      choice[static_cast<std::size_t>(expert)] = is_used ? choice_of(a, scores, expert) : NAN;
    }
  }
  choose_greatest<double>(choice, chosen);
}

}  // namespace

void router_scores(std::span<const float> logits, RouterScore score, std::span<double> scores) {
  if (score == RouterScore::sigmoid) {
    for (std::size_t e = 0; e < logits.size(); ++e) scores[e] = 1 / (1 + std::exp(-double{logits[e]}));
    return;
  }
  double greatest = -HUGE_VAL;
  for (float logit : logits) greatest = std::isnan(logit) ? NAN : std::max(greatest, double{logit});
  double sum = 0;
  for (std::size_t e = 0; e < logits.size(); ++e) sum += scores[e] = std::exp(logits[e] - greatest);
  for (std::size_t e = 0; e < logits.size(); ++e) scores[e] /= sum;
}

void route_token(const RouterTopK::Arguments& a, std::int64_t token, std::span<double> scores,
                 std::span<double> choice) {
  const std::span<const float> logits = logits_of(a.logits, token);
  const std::span<std::int32_t> chosen(&a.indices(token, 0), static_cast<std::size_t>(a.indices.size(1)));
  router_scores(logits, a.score, scores);
  if (a.compares_scores()) {
    choose_by_scores(a, scores, choice, chosen);
  } else {
    choose_greatest<float>(logits, chosen);
  }
  double sum = router_least_sum;
  for (std::int32_t expert : chosen) sum += scores[static_cast<std::size_t>(expert)];
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const double score = scores[static_cast<std::size_t>(chosen[j])];
    a.weights(token, j) = static_cast<float>(double{a.scaling} * score / (a.normalise ? sum : 1));
  }
}

void router_top_k_reference(const RouterTopK::Arguments& a, Context&) {
  const auto experts = static_cast<std::size_t>(a.logits.size(1));
  std::vector<double> scores(experts);
  std::vector<double> choice(experts);
  for (std::int64_t token = 0; token < a.logits.size(0); ++token) route_token(a, token, scores, choice);
}

void router_top_k_backward_reference(const RouterTopKBackward::Arguments& a, Context&) {
  const auto experts = static_cast<std::size_t>(a.logits.size(1));
  const std::int64_t chosen_count = a.indices.size(1);
  std::vector<double> scores(experts);
  std::vector<double> dscores(experts);
  for (std::int64_t token = 0; token < a.logits.size(0); ++token) {
    router_scores(logits_of(a.logits, token), a.score, scores);
    double sum = router_least_sum;
    double weighted = 0;
    for (std::int64_t j = 0; j < chosen_count; ++j) {
      const double score = scores[static_cast<std::size_t>(a.indices(token, j))];
      sum += score;
      weighted += a.dweights(token, j) * score;
    }
    std::fill(dscores.begin(), dscores.end(), 0.0);
    double mean = 0;
    for (std::int64_t j = 0; j < chosen_count; ++j) {
      const auto expert = static_cast<std::size_t>(a.indices(token, j));
      const double dweight = a.dweights(token, j);
      dscores[expert] = double{a.scaling} * (a.normalise ? (dweight - weighted / sum) / sum : dweight);
      mean += dscores[expert] * scores[expert];
    }
    for (std::size_t e = 0; e < experts; ++e) {
      const double gradient =
          a.score == RouterScore::softmax ? scores[e] * (dscores[e] - mean) : dscores[e] * scores[e] * (1 - scores[e]);
      a.dlogits(token, e) = static_cast<float>(gradient);
    }
  }
}

}  // namespace ingot
