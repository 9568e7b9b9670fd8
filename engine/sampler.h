// Sampler: from logits to the next token, as a chain of contracts.
//
//   biases  ->  penalties (repetition, presence, frequency)  ->  top-k  ->  temperature  ->  top-p  ->  min-p  ->  draw
//
// Top-k comes first because a temperature changes no order, and what it leaves is short. A link that is switched off is
// left out. Without a temperature the most likely token is taken and nothing is drawn.
// The draws depend on the seed alone, so the same seed gives the same text on every number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "engine/token_choice.h"
#include "kernels/contract/context.h"
#include "kernels/contract/table.h"
#include "machine/memory.h"
#include "model/grammar/token_mask.h"
#include "tensor/view.h"

namespace ingot {

struct SamplerOptions {
  double temperature = 0;  // 0, and what is hardly more: greedy
  std::int64_t top_k = 0;  // 0: off
  double top_p = 1;        // 1: off
  double min_p = 0;        // 0: off
  double repetition = 1;   // 1: off
  double presence = 0;
  double frequency = 0;
  std::int64_t penalty_window = 64;  // how many of the last tokens the penalties look at
  std::uint64_t seed = 0;
};

struct TokenBias {
  std::int32_t token = 0;
  float added = 0;  // to its logit; -infinity: it never comes
};

// What a caller says of single tokens. All of them are in the vocabulary.
struct TokenConstraints {
  std::span<const std::int32_t> forbidden = {};  // are never chosen
  std::span<const TokenBias> biases = {};
  const grammar::TokenMask* allowed = nullptr;  // no others are chosen; null: all may be
};

class Sampler {
 public:
  // Fails where a number lies outside of its range. The table must outlive the sampler.
  static Result<Sampler> create(const KernelTable& table, const SamplerOptions& options);

  // The token chosen from one row of logits; it joins the history. Fails where no token has a number.
  Result<std::int32_t> choose(std::span<const float> logits, Context& context,
                              const TokenConstraints& constraints = {});
  // The same, for whoever may refuse it and ask for another: it joins nothing. sampling::no_token where none is left.
  Result<std::int32_t> propose(std::span<const float> logits, Context& context,
                               const TokenConstraints& constraints = {});
  // Whether the logits and one number decide, and neither penalties nor constraints have a say.
  bool needs_logits_alone(const TokenConstraints& constraints = {}) const {
    return !has_penalties() && constraints.forbidden.empty() && constraints.biases.empty() &&
           constraints.allowed == nullptr;
  }
  // How the next token is chosen where that is so; and what it was, which joins the history. Fails for
  // sampling::no_token.
  TokenChoice next_choice();
  Result<std::int32_t> accept(std::int32_t token);
  // What choices are drawn from; and from where they are drawn again, where one came to nothing.
  const RandomNumbers& numbers() const { return random_; }
  void draw_again_from(const RandomNumbers& numbers) { random_ = numbers; }
  // Tokens that penalties should see: a prompt.
  void remember(std::span<const std::int32_t> tokens);

 private:
  Sampler(const KernelTable& table, const SamplerOptions& options)
      : table_(&table), options_(options), random_(options.seed) {}
  View<float> row();
  void forbid_all_but(const grammar::TokenMask& allowed);
  bool has_penalties() const { return options_.repetition != 1 || options_.presence != 0 || options_.frequency != 0; }
  ChoiceRule rule() const;
  Result<void> penalise(Context& context);
  Result<void> keep_top_k(Context& context);
  void drop_masked();
  void gather_candidates();
  Result<std::int32_t> draw(Context& context);  // sampling::no_token where none has a number
  float next_uniform();                         // in [0, 1)

  const KernelTable* table_;
  SamplerOptions options_;
  RandomNumbers random_;
  std::vector<std::int32_t> history_;
  std::vector<float> row_;                // of all tokens, or of the candidates
  std::vector<std::int32_t> candidates_;  // what is left of the vocabulary, in its order; empty: all of it
  std::vector<float> values_;
  Memory scratch_;
};

}  // namespace ingot
