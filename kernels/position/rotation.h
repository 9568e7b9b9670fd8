// Rotary position embedding: which angle turns which pair, for every operation that turns pairs or tabulates angles.
//
// Pair i of R/2 turns by position * frequency[i]. With theta_i = base^(-2i/R) the kinds of scaling give
//
//   none    theta_i
//   linear  theta_i / factor                                       (position interpolation)
//   ntk     the base becomes base * factor^(R/(R-2))               (the slowest pair ends at theta / factor)
//   yarn    theta_i (1 - ramp_i) + theta_i / factor * ramp_i, ramp rising from 0 to 1 between the pairs that make
//           beta_fast and beta_slow turns within original_context, rounded outwards to whole pairs where whole_ramp is
//           set; cos and sin are scaled by attention_factor
//   llama3  theta_i where original_context holds more than high_freq_factor turns, theta_i / factor where it holds
//           fewer than low_freq_factor, and a mixture linear in the number of turns between
//
// and frequency[i] is then divided by frequency_factors[i], where given.
//
// R1  rotary_dimensions R is even, 2 or more
// R2  base is finite and positive; factor is finite and positive
// R3  scaling is one of the kinds above
// R4  attention_factor is finite and not negative; 0 takes the kind's own: 0.1 ln(factor) + 1 for yarn, else 1
// R5  yarn and llama3: original_context is 1 or more; yarn: base is not 1, beta_fast >= beta_slow > 0, both finite;
//     llama3: 0 < low_freq_factor < high_freq_factor, both finite
// R6  frequency_factors, where given, has shape [R/2]
#pragma once

#include <span>

#include "kernels/contract/constraints.h"

namespace ingot {

enum class RopeScaling : std::uint8_t { none, linear, ntk, yarn, llama3 };
// Which two elements make pair i of R/2: (x[i], x[i + R/2]), or (x[2i], x[2i + 1]).
enum class PairStyle : std::uint8_t { half_split, interleaved };
// forward turns by the angle, inverse by its opposite. Scaled by attention_factor both ways, so inverse is the
// transpose of forward: the backward of one is the other.
enum class Direction : std::uint8_t { forward, inverse };

constexpr Direction opposite(Direction direction) {
  return direction == Direction::forward ? Direction::inverse : Direction::forward;
}

inline constexpr std::int64_t rotary_limit = 65536;

struct RotationAttributes {
  View<const float> frequency_factors;
  std::int64_t rotary_dimensions = 0;
  float base = 10000;
  RopeScaling scaling = RopeScaling::none;
  float factor = 1;
  std::int64_t original_context = 0;
  float low_freq_factor = 1;
  float high_freq_factor = 4;
  float beta_fast = 32;
  float beta_slow = 1;
  bool whole_ramp = true;
  float attention_factor = 0;

  static constexpr auto fields() {
    using Self = RotationAttributes;
    return field_list(optional_weight(&Self::frequency_factors, "frequency_factors"),
                      attribute(&Self::rotary_dimensions, "rotary_dimensions"), attribute(&Self::base, "base"),
                      attribute(&Self::scaling, "scaling"), attribute(&Self::factor, "factor"),
                      attribute(&Self::original_context, "original_context"),
                      attribute(&Self::low_freq_factor, "low_freq_factor"),
                      attribute(&Self::high_freq_factor, "high_freq_factor"), attribute(&Self::beta_fast, "beta_fast"),
                      attribute(&Self::beta_slow, "beta_slow"), attribute(&Self::whole_ramp, "whole_ramp"),
                      attribute(&Self::attention_factor, "attention_factor"));
  }
};

// R1 to R6, under the constraint number the operation gives them.
Result<void> check_rotation(std::string_view operation, std::string_view number, const RotationAttributes& rotation);

// Fills R/2 frequencies, in radians a position.
void rotation_frequencies(const RotationAttributes& rotation, std::span<double> frequencies);

// What cos and sin are multiplied by.
double rotation_magnitude(const RotationAttributes& rotation);

// One pair turned: (a, b) -> (a c - b s, a s + b c).
struct Turn {
  double cosine;
  double sine;
};
Turn turn_of(std::int64_t position, double frequency, double magnitude);

Result<void> require_style(std::string_view operation, std::string_view number, PairStyle style);
Result<void> require_direction(std::string_view operation, std::string_view number, Direction direction);

}  // namespace ingot
