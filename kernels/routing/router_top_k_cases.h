// Shapes: one expert, all experts chosen, odd numbers of experts around vector widths, no tokens; both scores, with and
// without bias and normalisation. The zeros regime is all ties.
#pragma once

#include "kernels/routing/router_top_k.h"

namespace ingot {

struct RouterCase {
  std::int64_t tokens, experts, chosen;
  RouterScore score = RouterScore::softmax;
  bool normalise = true;
  bool with_bias = false;
  float scaling = 1;
  std::int64_t groups = 1;
  std::int64_t groups_used = 1;
  GroupScore group_score = GroupScore::best;
};

inline void RouterTopK::cases(CaseList<RouterTopK>& list) {
  auto of = [](RouterCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.logits = builder.filled({one.tokens, one.experts});
      if (one.with_bias) {
        const View<float> bias = builder.filled({one.experts}, Fill::uniform(-0.5, 0.5));
        // A finite difference must not change the choice: biases further apart than any two scores settle it.
        for (std::int64_t e = 0; builder.regime() == Regime::gradient && e < one.experts; ++e) {
          bias(e) = static_cast<float>(2 * (5 * e % one.experts));
        }
        a.selection_bias = bias;
      }
      a.score = one.score;
      a.normalise = one.normalise;
      a.scaling = one.scaling;
      a.groups = one.groups;
      a.groups_used = one.groups_used;
      a.group_score = one.group_score;
      a.indices = builder.blank<std::int32_t>({one.tokens, one.chosen});
      a.weights = builder.blank({one.tokens, one.chosen});
      return a;
    };
  };
  constexpr auto softmax = RouterScore::softmax;
  constexpr auto sigmoid = RouterScore::sigmoid;
  list.parity("8 choose 2", of({5, 8, 2}));
  list.parity("sigmoid with bias", of({3, 24, 6, sigmoid, true, true, 2.5f}));
  list.parity("softmax with bias", of({3, 24, 6, softmax, false, true, 16}));
  list.parity("one expert", of({2, 1, 1}));
  list.parity("all experts", of({3, 7, 7, softmax, true}));
  for (std::int64_t experts : {9, 17, 33, 67, 128}) {
    list.parity("softmax " + std::to_string(experts), of({4, experts, 3, softmax, false, false, 0.5f}));
    list.parity("sigmoid " + std::to_string(experts), of({4, experts, 3, sigmoid, false}));
  }
  list.parity("2 of 4 groups, sigmoid with bias",
              of({5, 24, 5, sigmoid, true, true, 2.5f, 4, 2, GroupScore::best_two}));
  list.parity("3 of 5 groups, softmax", of({7, 35, 6, softmax, false, false, 16, 5, 3}));
  list.parity("groups of one", of({3, 6, 2, softmax, true, false, 1, 6, 2, GroupScore::best_two}));
  list.parity("many tokens", of({300, 40, 4}));
  list.parity("no tokens", of({0, 8, 2, sigmoid, true, true}));
  list.gradient("softmax, normalised", of({3, 6, 2, softmax, true, false, 1.5f}));
  list.gradient("softmax, plain, with bias", of({3, 6, 3, softmax, false, true}));
  list.gradient("sigmoid, normalised, with bias", of({3, 6, 2, sigmoid, true, true, 2.5f}));
  list.gradient("sigmoid, plain", of({3, 6, 2, sigmoid, false}));
  list.benchmark("1 token, 256 choose 8, sigmoid with bias", of({1, 256, 8, sigmoid, true, true, 2.5f}));
  list.benchmark("512 tokens, 128 choose 8", of({512, 128, 8}));
}

inline void RouterTopKBackward::cases(CaseList<RouterTopKBackward>& list) {
  auto of = [](RouterCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      a.logits = builder.filled({one.tokens, one.experts});
      const View<std::int32_t> indices = builder.filled<std::int32_t>({one.tokens, one.chosen}, Fill::constant(0));
      for (std::int64_t token = 0; token < one.tokens; ++token) {  // any distinct experts will do
        const std::int64_t first = builder.random_index(one.experts);
        for (std::int64_t j = 0; j < one.chosen; ++j) {
          indices(token, j) = static_cast<std::int32_t>((first + j) % one.experts);
        }
      }
      a.indices = indices;
      a.score = one.score;
      a.normalise = one.normalise;
      a.scaling = one.scaling;
      a.dweights = builder.filled({one.tokens, one.chosen}, Fill::uniform(-1, 1));
      a.dlogits = builder.blank({one.tokens, one.experts});
      return a;
    };
  };
  list.parity("softmax", of({4, 9, 3}));
  list.parity("sigmoid", of({4, 9, 3, RouterScore::sigmoid, true, false, 2.5f}));
  list.parity("one expert", of({2, 1, 1, RouterScore::softmax, false}));
  list.parity("no tokens", of({0, 4, 2}));
  list.benchmark("512 tokens, 128 choose 8", of({512, 128, 8}));
}

}  // namespace ingot
