#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/run_with_scratch.h"
#include "kernels/sampling/choose.h"
#include "kernels/sampling/filter.h"
#include "kernels/sampling/logits.h"
#include "kernels/sampling/repetition_penalty.h"

namespace ingot {
namespace {

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

Result<void> Sampler::penalise(const View<float>& row, Context& context) {
  const bool is_off = options_.repetition == 1 && options_.presence == 0 && options_.frequency == 0;
  if (is_off || history_.empty()) return {};
  RepetitionPenalty::Arguments arguments;
  arguments.logits = row;
  arguments.history = View<const std::int32_t>(history_.data(), {1, static_cast<std::int64_t>(history_.size())});
  arguments.repetition = static_cast<float>(options_.repetition);
  arguments.presence = static_cast<float>(options_.presence);
  arguments.frequency = static_cast<float>(options_.frequency);
  arguments.y = row;
  return run_with_scratch<RepetitionPenalty>(*table_, arguments, context, scratch_);
}

Result<void> Sampler::filter(const View<float>& row, Context& context) {
  TRY(run_with_scratch<Temperature>(*table_, {row, static_cast<float>(options_.temperature), row}, context, scratch_));
  if (options_.top_k > 0) TRY(run_with_scratch<SamplingTopK>(*table_, {row, options_.top_k, row}, context, scratch_));
  if (options_.top_p < 1) {
    const float least = std::max(static_cast<float>(options_.top_p), 1e-6f);  // 0 keeps the most likely token alone
    TRY(run_with_scratch<TopP>(*table_, {row, least, row}, context, scratch_));
  }
  if (options_.min_p > 0) {
    TRY(run_with_scratch<MinP>(*table_, {row, static_cast<float>(options_.min_p), row}, context, scratch_));
  }
  return {};
}

float Sampler::next_uniform() { return static_cast<float>(random_.next() >> 40) * 0x1p-24f; }

Result<std::int32_t> Sampler::choose(std::span<const float> logits, Context& context,
                                     const TokenConstraints& constraints) {
  row_.assign(logits.begin(), logits.end());
  for (const TokenBias& bias : constraints.biases) row_[static_cast<std::size_t>(bias.token)] += bias.added;
  for (const std::int32_t token : constraints.forbidden) {
    row_[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
  const View<float> row(row_.data(), {1, static_cast<std::int64_t>(row_.size())});
  TRY(penalise(row, context));
  std::int32_t token = sampling::no_token;
  const View<std::int32_t> chosen(&token, {1});
  if (options_.temperature == 0) {
    TRY(run_with_scratch<Greedy>(*table_, {row, chosen}, context, scratch_));
  } else {
    TRY(filter(row, context));
    const float uniform = next_uniform();
    TRY(run_with_scratch<Categorical>(*table_, {row, View<const float>(&uniform, {1}), chosen}, context, scratch_));
  }
  if (token == sampling::no_token) {
    return Error::of(ErrorCode::corrupt, "expected logits with a largest number, found none among ", row_.size());
  }
  remember(std::span(&token, 1));
  return token;
}

}  // namespace ingot
