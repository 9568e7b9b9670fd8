#include "train/record/run_summary.h"

#include <algorithm>
#include <cmath>

namespace ingot {

namespace {

constexpr std::size_t recent_steps = 32;

template <class Value>
std::optional<double> mean_of(std::span<const RunStep> steps, Value value) {
  double sum = 0;
  std::int64_t count = 0;
  for (const RunStep& step : steps) {
    if (!std::isfinite(value(step))) continue;
    sum += value(step);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace

RunSummary summary_of(std::span<const RunStep> steps, std::int64_t whole) {
  RunSummary summary;
  if (steps.empty()) return summary;
  for (const RunStep& step : steps) {
    summary.unusable += std::isfinite(step.loss) ? 0 : 1;
    if (!step.validation_loss || !std::isfinite(*step.validation_loss)) continue;
    summary.validation_loss = step.validation_loss;
    summary.best_validation_loss =
        std::min(summary.best_validation_loss.value_or(*step.validation_loss), *step.validation_loss);
  }
  const std::span<const RunStep> recent = steps.last(std::min(steps.size(), recent_steps));
  const RunStep& last = steps.back();
  summary.step = last.step;
  summary.tokens = last.tokens;
  summary.loss = mean_of(recent, [](const RunStep& step) { return step.loss; });
  summary.tokens_per_second = mean_of(recent, [](const RunStep& step) { return step.tokens_per_second; });
  // The log begins at step 0 with 0 tokens, so one line is enough for a rate.
  const double tokens_a_step = last.step > 0 ? static_cast<double>(last.tokens) / static_cast<double>(last.step) : 0;
  const double left = static_cast<double>(std::max<std::int64_t>(whole - last.step, 0));
  if (summary.tokens_per_second.value_or(0) > 0)
    summary.seconds_left = left * tokens_a_step / *summary.tokens_per_second;
  return summary;
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0 && seconds < 1e12)) return "unknown";
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  const auto two_digits = [](std::int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + two_digits(whole % 60) + " s";
  if (whole < 86400) return std::to_string(whole / 3600) + " h " + two_digits(whole / 60 % 60) + " min";
  return std::to_string(whole / 86400) + " d " + std::to_string(whole / 3600 % 24) + " h";
}

}  // namespace ingot
