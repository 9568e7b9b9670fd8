#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/run_with_scratch.h"
#include "kernels/elementwise/top_k.h"
#include "kernels/sampling/choose.h"
#include "kernels/sampling/filter.h"
#include "kernels/sampling/logits.h"
#include "kernels/sampling/repetition_penalty.h"

namespace ingot {
namespace {

// Below it differences of logits grow beyond what a float holds; the most likely token is all that is left long before.
constexpr double least_temperature = 1e-5;

Result<void> require_between(std::string_view what, double value, double low, double high) {
  if (value >= low && value <= high) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a ", what, " from ", static_cast<std::int64_t>(low), " to ",
                   static_cast<std::int64_t>(high), ", found ",
                   std::isnan(value) ? "one that is not a number" : "one outside of that");
}

}  // namespace

Result<Sampler> Sampler::create(const KernelTable& table, const SamplerOptions& options) {
  TRY(require_between("temperature", options.temperature, 0, 1000));
  TRY(require_between("top-p", options.top_p, 0, 1));
  TRY(require_between("min-p", options.min_p, 0, 1));
  TRY(require_between("presence penalty", options.presence, -1000, 1000));
  TRY(require_between("frequency penalty", options.frequency, -1000, 1000));
  TRY(require_between("repetition penalty", options.repetition, 0, 1000));
  if (options.repetition == 0) {
    return Error::of(ErrorCode::invalid_argument, "expected a repetition penalty above 0, found 0");
  }
  if (options.top_k < 0 || options.penalty_window < 0) {
    return Error::of(ErrorCode::invalid_argument, "expected a top-k and a penalty window of 0 or more, found ",
                     options.top_k, " and ", options.penalty_window);
  }
  return Sampler(table, options);
}

void Sampler::remember(std::span<const std::int32_t> tokens) {
  history_.insert(history_.end(), tokens.begin(), tokens.end());
  const auto kept = static_cast<std::size_t>(options_.penalty_window);
  if (history_.size() > kept) history_.erase(history_.begin(), history_.end() - static_cast<std::ptrdiff_t>(kept));
}

Result<void> Sampler::penalise(Context& context) {
  if (!has_penalties() || history_.empty()) return {};
  RepetitionPenalty::Arguments arguments;
  arguments.logits = row();
  arguments.history = View<const std::int32_t>(history_.data(), {1, static_cast<std::int64_t>(history_.size())});
  arguments.repetition = static_cast<float>(options_.repetition);
  arguments.presence = static_cast<float>(options_.presence);
  arguments.frequency = static_cast<float>(options_.frequency);
  arguments.y = row();
  return run_with_scratch<RepetitionPenalty>(*table_, arguments, context, scratch_);
}

ChoiceRule Sampler::rule() const {
  if (options_.temperature < least_temperature) return {};
  return {.temperature = static_cast<float>(options_.temperature),
          .top_k = options_.top_k,
          // 0 keeps the most likely token alone.
          .top_p = options_.top_p < 1 ? std::max(static_cast<float>(options_.top_p), 1e-6f) : 1,
          .min_p = static_cast<float>(options_.min_p)};
}

TokenChoice Sampler::next_choice() {
  TokenChoice choice{.rule = rule()};
  if (choice.rule.temperature > 0) choice.uniform = next_uniform();
  return choice;
}

Result<std::int32_t> Sampler::accept(std::int32_t token) {
  if (token == sampling::no_token) {
    return Error::of(ErrorCode::corrupt, "expected logits with a largest number, found none");
  }
  remember(std::span(&token, 1));
  return token;
}

View<float> Sampler::row() { return View<float>(row_.data(), {1, static_cast<std::int64_t>(row_.size())}); }

// What sampling.top_k keeps, but alone and in its order: the links behind it then look at a few tokens and not at all
// of a vocabulary.
Result<void> Sampler::keep_top_k(Context& context) {
  const auto count = static_cast<std::size_t>(options_.top_k);
  if (options_.top_k == 0 || count >= row_.size()) return {};
  values_.resize(count);
  candidates_.resize(count);
  const View<float> values(values_.data(), {1, options_.top_k});
  const View<std::int32_t> indices(candidates_.data(), {1, options_.top_k});
  TRY(run_with_scratch<ElementwiseTopK>(*table_, {.x = row(), .values = values, .indices = indices}, context,
                                        scratch_));
  if (std::isnan(values_[0])) {  // counts as large there, and as none here
    candidates_.clear();
    return run_with_scratch<SamplingTopK>(*table_, {row(), options_.top_k, row()}, context, scratch_);
  }
  std::ranges::sort(candidates_);
  gather_candidates();
  return {};
}

// What no filter has taken out, for the draw.
void Sampler::drop_masked() {
  if (!candidates_.empty()) return;
  for (std::size_t token = 0; token < row_.size(); ++token) {
    if (row_[token] > -std::numeric_limits<float>::infinity()) candidates_.push_back(static_cast<std::int32_t>(token));
  }
  if (!candidates_.empty()) gather_candidates();
}

// Their order is that of the row, so that none is overwritten before it is read.
void Sampler::gather_candidates() {
  for (std::size_t i = 0; i < candidates_.size(); ++i) row_[i] = row_[static_cast<std::size_t>(candidates_[i])];
  row_.resize(candidates_.size());
}

Result<std::int32_t> Sampler::draw(Context& context) {
  candidates_.clear();
  TRY(keep_top_k(context));
  const ChoiceRule rule = this->rule();
  TRY(run_with_scratch<Temperature>(*table_, {row(), rule.temperature, row()}, context, scratch_));
  if (rule.top_p < 1) TRY(run_with_scratch<TopP>(*table_, {row(), rule.top_p, row()}, context, scratch_));
  if (rule.min_p > 0) TRY(run_with_scratch<MinP>(*table_, {row(), rule.min_p, row()}, context, scratch_));
  if (rule.top_p < 1 || rule.min_p > 0) drop_masked();
  const float uniform = next_uniform();
  std::int32_t drawn = sampling::no_token;
  TRY(run_with_scratch<Categorical>(*table_, {row(), View<const float>(&uniform, {1}), View<std::int32_t>(&drawn, {1})},
                                    context, scratch_));
  if (drawn == sampling::no_token || candidates_.empty()) return drawn;
  return candidates_[static_cast<std::size_t>(drawn)];
}

float Sampler::next_uniform() { return static_cast<float>(random_.next() >> 40) * 0x1p-24f; }

void Sampler::forbid_all_but(const grammar::TokenMask& allowed) {
  constexpr float never = -std::numeric_limits<float>::infinity();
  constexpr std::size_t bits = 64;
  const std::span<const std::uint64_t> words = allowed.words();
  for (std::size_t first = 0; first < row_.size(); first += bits) {
    const std::uint64_t word = first / bits < words.size() ? words[first / bits] : 0;
    if (word == ~std::uint64_t{0}) continue;
    const std::size_t last = std::min(first + bits, row_.size());
    for (std::size_t token = first; token < last; ++token) {
      if ((word >> (token - first) & 1) == 0) row_[token] = never;
    }
  }
}

Result<std::int32_t> Sampler::choose(std::span<const float> logits, Context& context,
                                     const TokenConstraints& constraints) {
  return accept(TRY(propose(logits, context, constraints)));
}

Result<std::int32_t> Sampler::propose(std::span<const float> logits, Context& context,
                                      const TokenConstraints& constraints) {
  row_.assign(logits.begin(), logits.end());
  for (const TokenBias& bias : constraints.biases) row_[static_cast<std::size_t>(bias.token)] += bias.added;
  for (const std::int32_t token : constraints.forbidden) {
    row_[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
  if (constraints.allowed != nullptr) forbid_all_but(*constraints.allowed);
  TRY(penalise(context));
  std::int32_t token = sampling::no_token;
  if (options_.temperature < least_temperature) {
    TRY(run_with_scratch<Greedy>(*table_, {row(), View<std::int32_t>(&token, {1})}, context, scratch_));
  } else {
    token = TRY(draw(context));
  }
  return token;
}

}  // namespace ingot
