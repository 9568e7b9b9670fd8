#include "kernels/position/rotation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ingot {
namespace {

bool is_positive(float value) { return std::isfinite(value) && value > 0; }

// The pair that makes `turns` turns within the original context: theta_i context = 2 pi turns, solved for i.
double pair_with_turns(const RotationAttributes& rotation, double turns) {
  const double context = static_cast<double>(rotation.original_context);
  return static_cast<double>(rotation.rotary_dimensions) * std::log(context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(double{rotation.base}));
}

double yarn_frequency(const RotationAttributes& rotation, double theta, double pair) {
  const double last = static_cast<double>(rotation.rotary_dimensions - 1);
  const double fast = pair_with_turns(rotation, rotation.beta_fast);
  const double slow = pair_with_turns(rotation, rotation.beta_slow);
  const double low = std::max(rotation.whole_ramp ? std::floor(fast) : fast, 0.0);
  const double high = std::min(rotation.whole_ramp ? std::ceil(slow) : slow, last);
  const double width = high == low ? 0.001 : high - low;  // a step, where both ends are one pair
  const double ramp = std::clamp((pair - low) / width, 0.0, 1.0);
  return theta / rotation.factor * ramp + theta * (1 - ramp);
}

double llama3_frequency(const RotationAttributes& rotation, double theta) {
  const double turns = static_cast<double>(rotation.original_context) * theta / (2 * std::numbers::pi);
  if (turns > rotation.high_freq_factor) return theta;
  if (turns < rotation.low_freq_factor) return theta / rotation.factor;
  const double kept =
      (turns - rotation.low_freq_factor) / (double{rotation.high_freq_factor} - rotation.low_freq_factor);
  return (1 - kept) * theta / rotation.factor + kept * theta;
}

}  // namespace

Result<void> check_rotation(std::string_view name, std::string_view number, const RotationAttributes& r) {
  if (r.rotary_dimensions < 2 || r.rotary_dimensions % 2 != 0 || r.rotary_dimensions > rotary_limit) {
    return violated(name, number, "expected even rotary_dimensions from 2 to ", rotary_limit, ", found ",
                    r.rotary_dimensions);
  }
  if (!is_positive(r.base)) return violated(name, number, "expected a finite base above 0, found one that is not");
  if (!is_positive(r.factor)) return violated(name, number, "expected a finite factor above 0, found one that is not");
  if (static_cast<int>(r.scaling) > static_cast<int>(RopeScaling::llama3)) {
    return violated(name, number, "expected scaling none (0) to llama3 (4), found ",
                    static_cast<std::int64_t>(r.scaling));
  }
  if (!std::isfinite(r.attention_factor) || r.attention_factor < 0) {
    return violated(name, number, "expected a finite attention_factor of 0 or more, found one that is not");
  }
  const bool is_yarn = r.scaling == RopeScaling::yarn;
  if ((is_yarn || r.scaling == RopeScaling::llama3) && r.original_context < 1) {
    return violated(name, number, "expected an original_context of 1 or more, found ", r.original_context);
  }
  if (is_yarn && (!is_positive(r.beta_slow) || !is_positive(r.beta_fast) || r.beta_fast < r.beta_slow || r.base == 1)) {
    return violated(name, number, "expected a base other than 1 and finite beta_fast >= beta_slow > 0, found others");
  }
  if (r.scaling == RopeScaling::llama3 && (!is_positive(r.low_freq_factor) || !is_positive(r.high_freq_factor) ||
                                           r.low_freq_factor >= r.high_freq_factor)) {
    return violated(name, number, "expected finite 0 < low_freq_factor < high_freq_factor, found others");
  }
  if (is_present(r.frequency_factors)) {
    TRY(require_shape(name, number, "frequency_factors", r.frequency_factors, {r.rotary_dimensions / 2}));
  }
  return {};
}

void rotation_frequencies(const RotationAttributes& r, std::span<double> frequencies) {
  const auto rotary = static_cast<double>(r.rotary_dimensions);
  double base = r.base;
  // With a single pair its frequency is 1 whatever the base.
  if (r.scaling == RopeScaling::ntk && r.rotary_dimensions > 2)
    base *= std::pow(double{r.factor}, rotary / (rotary - 2));
  for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
    const auto index = static_cast<double>(pair);
    double theta = std::pow(base, -2 * index / rotary);
    if (r.scaling == RopeScaling::linear) theta /= r.factor;
    if (r.scaling == RopeScaling::yarn) theta = yarn_frequency(r, theta, index);
    if (r.scaling == RopeScaling::llama3) theta = llama3_frequency(r, theta);
    if (is_present(r.frequency_factors)) theta /= r.frequency_factors(pair);
    frequencies[pair] = theta;
  }
}

double rotation_magnitude(const RotationAttributes& r) {
  if (r.attention_factor > 0) return r.attention_factor;
  // Below 1 the context shrinks, and attention needs no sharpening.
  return r.scaling == RopeScaling::yarn && r.factor > 1 ? 0.1 * std::log(double{r.factor}) + 1 : 1;
}

Turn turn_of(std::int64_t position, double frequency, double magnitude) {
  const double angle = static_cast<double>(position) * frequency;
  return {magnitude * std::cos(angle), magnitude * std::sin(angle)};
}

Result<void> require_style(std::string_view name, std::string_view number, PairStyle style) {
  if (style == PairStyle::half_split || style == PairStyle::interleaved) return {};
  return violated(name, number, "expected style half_split (0) or interleaved (1), found ",
                  static_cast<std::int64_t>(style));
}

Result<void> require_direction(std::string_view name, std::string_view number, Direction direction) {
  if (direction == Direction::forward || direction == Direction::inverse) return {};
  return violated(name, number, "expected direction forward (0) or inverse (1), found ",
                  static_cast<std::int64_t>(direction));
}

}  // namespace ingot
