#include "tensor/block_search.h"

#include <algorithm>
#include <cmath>

#include "tensor/block_encode.h"

namespace ingot {
namespace {

constexpr int block_size = 256;

// The block divided by a power of two, so that its largest magnitude lies in [1, 2): no sum of squares over- or
// underflows, and the search is the same for a block and for its double. What is not finite counts as zero.
struct Normalised {
  float values[block_size];
  int exponent = 0;
};

void normalise(const float* values, Normalised& out) {
  float largest = 0;
  for (int i = 0; i < block_size; ++i) {
    out.values[i] = std::isfinite(values[i]) ? values[i] : 0.0f;
    largest = std::max(largest, std::fabs(out.values[i]));
  }
  if (largest == 0) return;
  out.exponent = std::ilogb(largest);
  for (float& value : out.values) value = std::ldexp(value, -out.exponent);
}

// Stores a normalised scale as a half, and returns what the half stands for. Scales beyond the halves saturate: a
// wrong magnitude is a smaller error than an infinity.
float store_scale(float scale, int exponent, StoredHalf& half) {
  half.set(std::clamp(std::ldexp(scale, exponent), -65504.0f, 65504.0f));
  return std::ldexp(half.value(), -exponent);
}

// Large values matter more to a product with activations, but small ones are not free.
void weigh(const float* x, int count, float* weights) {
  float squares = 0;
  for (int i = 0; i < count; ++i) squares += x[i] * x[i];
  const float spread = std::sqrt(squares / static_cast<float>(count));
  for (int i = 0; i < count; ++i) weights[i] = spread + std::fabs(x[i]);
}

// Sums over elements of the normal equations for x = a u - b v with weights.
struct NormalEquations {
  float uu = 0, uv = 0, vv = 0, ux = 0, vx = 0;

  void add(float weight, float u, float v, float x) {
    uu += weight * u * u;
    uv += weight * u * v;
    vv += weight * v * v;
    ux += weight * u * x;
    vx += weight * v * x;
  }
  // False where the elements do not determine both.
  bool solve(float& a, float& b) const {
    const float determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-6f * uu * vv)) return false;
    a = (vv * ux - uv * vx) / determinant;
    b = (uv * ux - uu * vx) / determinant;
    return true;
  }
};

struct AffineGroup {
  float scale, minimum;
};

// Rounding under several trial scales, least squares for the codes found, and the best of all. Trials divide the range
// by a little more or less than the number of codes, because cutting off an extreme can serve the rest.
AffineGroup fit_group(const float* x, const float* weights, int count, int highest_code) {
  float lowest = 0;  // minimums are not negative, so the range always reaches down to zero
  float highest = x[0];
  for (int i = 0; i < count; ++i) {
    lowest = std::min(lowest, x[i]);
    highest = std::max(highest, x[i]);
  }
  const float range = highest - lowest;
  if (!(range > 1e-30f)) return {0, -lowest};
  AffineGroup best = {range / static_cast<float>(highest_code), -lowest};
  float least_error = HUGE_VALF;
  for (int step = -8; step <= 8; ++step) {
    const float inverse = (static_cast<float>(highest_code) + 0.125f * static_cast<float>(step)) / range;
    NormalEquations equations;
    for (int i = 0; i < count; ++i) {
      const auto code = static_cast<float>(nearest_code(inverse * (x[i] - lowest), 0, highest_code));
      equations.add(weights[i], code, 1, x[i]);
    }
    AffineGroup group;
    if (!equations.solve(group.scale, group.minimum)) continue;
    if (group.minimum < 0) group = {equations.ux / equations.uu, 0};
    if (!(group.scale > 0)) continue;
    // What the best scale and minimum for these codes leave, less the sum of weighted squares that all steps share.
    const float error = group.minimum * equations.vx - group.scale * equations.ux;
    if (error < least_error) {
      least_error = error;
      best = group;
    }
  }
  return best;
}

// The scale of sixteen values under codes [-levels, levels - 1]: the extreme is put near the code of most magnitude.
float fit_symmetric_group(const float* x, int levels) {
  constexpr int count = 16;
  float extreme = 0;
  for (int i = 0; i < count; ++i) {
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  }
  if (std::fabs(extreme) < 1e-15f) return 0;
  float best_scale = extreme / static_cast<float>(-levels);
  float most_explained = 0;
  for (int step = -9; step <= 9; ++step) {
    const float inverse = -(static_cast<float>(levels) + 0.1f * static_cast<float>(step)) / extreme;
    float products = 0;
    float squares = 0;
    for (int i = 0; i < count; ++i) {
      const auto code = static_cast<float>(nearest_code(inverse * x[i], -levels, levels - 1));
      const float weight = x[i] * x[i];
      products += weight * code * x[i];
      squares += weight * code * code;
    }
    // The best scale for these codes leaves sum w x^2 - products^2 / squares.
    if (squares > 0 && products * products > most_explained * squares) {
      most_explained = products * products / squares;
      best_scale = products / squares;
    }
  }
  return best_scale;
}

}  // namespace

void fit_affine(const float* values, AffineLevels levels, AffineFit& fit) {
  Normalised x;
  normalise(values, x);
  float weights[block_size];
  AffineGroup groups[16];
  const int group_count = block_size / levels.group;
  float largest_scale = 0;
  float largest_minimum = 0;
  for (int g = 0; g < group_count; ++g) {
    weigh(x.values + g * levels.group, levels.group, weights + g * levels.group);
    groups[g] = fit_group(x.values + g * levels.group, weights + g * levels.group, levels.group, levels.highest_code);
    largest_scale = std::max(largest_scale, groups[g].scale);
    largest_minimum = std::max(largest_minimum, groups[g].minimum);
  }
  const auto steps = static_cast<float>(levels.highest_scale);
  float scale = largest_scale / steps;
  float minimum = largest_minimum / steps;
  // Rounding the group scales moved them; the second round gives the two halves their best values for the codes found.
  float least_error = HUGE_VALF;
  for (int round = 0; round < 2; ++round) {
    AffineFit trial;
    const float d = store_scale(scale, x.exponent, trial.scale);
    const float m = store_scale(minimum, x.exponent, trial.minimum);
    NormalEquations equations;
    float error = 0;
    for (int g = 0; g < group_count; ++g) {
      const int scale_code = d > 0 ? nearest_code(groups[g].scale / d, 0, levels.highest_scale) : 0;
      const int minimum_code = m > 0 ? nearest_code(groups[g].minimum / m, 0, levels.highest_scale) : 0;
      trial.scale_codes[g] = static_cast<std::uint8_t>(scale_code);
      trial.minimum_codes[g] = static_cast<std::uint8_t>(minimum_code);
      const float step = d * static_cast<float>(scale_code);
      const float base = m * static_cast<float>(minimum_code);
      for (int i = g * levels.group; i < (g + 1) * levels.group; ++i) {
        const int code = step > 0 ? nearest_code((x.values[i] + base) / step, 0, levels.highest_code) : 0;
        trial.codes[i] = static_cast<std::uint8_t>(code);
        const float difference = step * static_cast<float>(code) - base - x.values[i];
        error += weights[i] * difference * difference;
        equations.add(weights[i], static_cast<float>(scale_code * code), static_cast<float>(minimum_code), x.values[i]);
      }
    }
    if (error < least_error) {
      least_error = error;
      fit = trial;
    }
    if (!equations.solve(scale, minimum) || scale <= 0 || minimum < 0) break;
  }
}

void fit_symmetric(const float* values, SymmetricLevels levels, SymmetricFit& fit) {
  Normalised x;
  normalise(values, x);
  float group_scales[16];
  float extreme = 0;
  for (int g = 0; g < 16; ++g) {
    group_scales[g] = fit_symmetric_group(x.values + 16 * g, levels.code_levels);
    if (std::fabs(group_scales[g]) > std::fabs(extreme)) extreme = group_scales[g];
  }
  const float scale = store_scale(extreme / static_cast<float>(-levels.scale_levels), x.exponent, fit.scale);
  for (int g = 0; g < 16; ++g) {
    const int scale_code =
        scale != 0 ? nearest_code(group_scales[g] / scale, -levels.scale_levels, levels.scale_levels - 1) : 0;
    fit.scale_codes[g] = static_cast<std::int8_t>(scale_code);
    const float step = scale * static_cast<float>(scale_code);
    for (int i = 16 * g; i < 16 * (g + 1); ++i) {
      const int code = step != 0 ? nearest_code(x.values[i] / step, -levels.code_levels, levels.code_levels - 1) : 0;
      fit.codes[i] = static_cast<std::int8_t>(code);
    }
  }
}

}  // namespace ingot
