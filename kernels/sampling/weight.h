// The unnormalised probability of a token: weight = e^(logit - largest logit), with every bit defined.
//
// Which token a random number selects, and where a nucleus ends, must not depend on the machine. So the weight is not
// "exp to some precision" but this sequence of IEEE operations in double, and sums of weights have a fixed order:
//
//   t = logit - largest, in float; 0 where they are equal (so +inf weighs 1); the weight is 0 unless t >= -104
//   n = t / ln 2 rounded to the nearest integer, r = t - n ln 2 with ln 2 in two parts
//   p = the Taylor polynomial of e^r of degree 7, by Horner's rule
//   weight = 2^n p, within 2e-8 of e^t
//
// Before each multiplication both factors are cut to 26 significant bits. Products are then exact, so fused and
// separate multiply-adds round alike, and scalar code and every vector unit give the same bits. The same holds for the
// products with n, which has 8 bits, and the parts of ln 2, which have 33 and 32.
//
// Sum of a row's weights: blocks of 1024 tokens; in a block, token i goes to partial sum i mod 8, in index order; the
// partial sums are added in pairs at distance 4, then 2, then 1; block sums are added in order.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ingot::sampling {

inline constexpr std::int64_t block_tokens = 1024;
inline constexpr int partial_sums = 8;

inline constexpr float least_difference = -104;  // e^-104 is less than half of the smallest float
inline constexpr double ln2_high = 0x1.62e42fefp-1;
inline constexpr double ln2_low = 0xa39ef357p-65;
inline constexpr double inverse_ln2 = 0x1.71547652b82fep0;
inline constexpr std::uint64_t kept_bits = ~std::uint64_t{0} << 27;  // of a double's 53, the 26 most significant
inline constexpr double taylor[] = {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};

constexpr double cut(double value) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & kept_bits); }

// The polynomial from a power on. Each power is a constant of its own: a device has no table to look it up in, and the
// device's compiler takes whatever looks there for something that never happens.
template <int power>
inline constexpr double taylor_term = taylor[power];
template <int power>
constexpr double taylor_from(double r) {
  if constexpr (power == 7) {
    return taylor_term<7>;
  } else {
    return cut(taylor_from<power + 1>(r)) * r + taylor_term<power>;
  }
}

constexpr double weight(float logit, float largest) {
  const float t = logit == largest ? 0 : logit - largest;
  if (!(t >= least_difference)) return 0;
  // 1.5 * 2^52 leaves no fraction bits, so the addition itself rounds, half to even.
  constexpr double shift = 0x1.8p52;
  const double n = (t * inverse_ln2 + shift) - shift;
  const double r = cut((t - n * ln2_high) - n * ln2_low);
  return taylor_from<0>(r) *
         std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52);
}

constexpr double join_partial_sums(double (&sums)[partial_sums]) {
  for (int distance = partial_sums / 2; distance > 0; distance /= 2) {
    for (int i = 0; i < distance; ++i) sums[i] += sums[i + distance];
  }
  return sums[0];
}

inline double block_sum(const float* logits, std::int64_t tokens, float largest) {
  double sums[partial_sums] = {};
  for (std::int64_t i = 0; i < tokens; ++i) sums[i % partial_sums] += weight(logits[i], largest);
  return join_partial_sums(sums);
}

// min_p as a distance of logits: p >= min_p p_largest means logit - largest >= ln(min_p).
inline float least_distance(float min_p) { return static_cast<float>(std::log(double{min_p})); }

}  // namespace ingot::sampling
