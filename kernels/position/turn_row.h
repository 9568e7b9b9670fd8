// Scalar truth of one head turned, shared by the operations that compute angles and those that are given tables.
#pragma once

#include "kernels/position/rotation.h"

namespace ingot {

// turn(i) gives pair i's cosine and sine; y may be x.
template <class TurnOfPair>
void turn_row(const float* x, float* y, std::int64_t width, std::int64_t rotary, PairStyle style, Direction direction,
              TurnOfPair&& turn) {
  for (std::int64_t pair = 0; pair < rotary / 2; ++pair) {
    const std::int64_t first = style == PairStyle::half_split ? pair : 2 * pair;
    const std::int64_t second = style == PairStyle::half_split ? pair + rotary / 2 : 2 * pair + 1;
    const Turn t = turn(pair);
    const double sine = direction == Direction::forward ? t.sine : -t.sine;
    const double a = x[first];
    const double b = x[second];
    y[first] = static_cast<float>(a * t.cosine - b * sine);
    y[second] = static_cast<float>(a * sine + b * t.cosine);
  }
  for (std::int64_t d = rotary; d < width; ++d) y[d] = x[d];
}

}  // namespace ingot
