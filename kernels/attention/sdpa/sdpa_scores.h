// Scalar truth of one score, shared by the forward and backward references.
#pragma once

#include <cmath>

#include "kernels/attention/sdpa/sdpa_inputs.h"

namespace ingot {

struct Score {
  double value = 0;  // s
  double slope = 1;  // d s / d raw: what the bound leaves of a gradient
};

// How softcap bounds a raw score, and how steep it is there.
inline Score bounded_score(double raw, double softcap) {
  if (!(softcap > 0)) return {raw, 1};
  const double hyperbolic = std::tanh(raw / softcap);
  return {softcap * hyperbolic, 1 - hyperbolic * hyperbolic};
}

class ScoreTruth {
 public:
  explicit ScoreTruth(const SdpaInputs& inputs) : inputs_(inputs), mask_(inputs.repeated_mask()) {}

  Score operator()(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    const SdpaInputs& a = inputs_;
    const float* query = &a.q(b, h, i, 0);
    const float* key = &a.k(b, h / a.head_group(), j, 0);
    double dot = 0;
    for (std::int64_t d = 0; d < a.dimensions(); ++d) dot += double{query[d]} * key[d];
    Score score = bounded_score(a.scale * dot, a.softcap);
    if (is_present(a.alibi_slopes)) {
      score.value -= a.alibi_slopes(h) * static_cast<double>(std::abs(a.query_offset + i - j));
    }
    if (is_present(a.mask)) score.value += mask_(b, h, i, j);
    return score;
  }

 private:
  const SdpaInputs& inputs_;
  View<const float> mask_;
};

}  // namespace ingot
