// Cosine and sine of an angle together, in double, to some 36 bits: a float's rounding is all that shows. The library's
// two functions each reduce the angle, and load the digits of their series from memory; every block waits for them.
#pragma once

#include "kernels/device/numbers.h"

namespace ingot::device {

struct CosineAndSine {
  double cosine;
  double sine;
};

// Of |r| <= pi/4, by their series.
INGOT_ON_DEVICE double cosine_near_zero(double square) {
  double sum = fused_multiply_add(square, 1.0 / 479001600, -1.0 / 3628800);
  sum = fused_multiply_add(square, sum, 1.0 / 40320);
  sum = fused_multiply_add(square, sum, -1.0 / 720);
  sum = fused_multiply_add(square, sum, 1.0 / 24);
  sum = fused_multiply_add(square, sum, -0.5);
  return fused_multiply_add(square, sum, 1.0);
}
INGOT_ON_DEVICE double sine_near_zero(double r, double square) {
  double sum = fused_multiply_add(square, -1.0 / 39916800, 1.0 / 362880);
  sum = fused_multiply_add(square, sum, -1.0 / 5040);
  sum = fused_multiply_add(square, sum, 1.0 / 120);
  sum = fused_multiply_add(square, sum, -1.0 / 6);
  return fused_multiply_add(square * r, sum, r);
}

// What is left of an angle beyond whole quarters of a turn. A quarter as two numbers has 107 bits: whole quarters that
// take 40 of them leave more than enough. Angles beyond, infinities and NaN are the library's.
INGOT_ON_DEVICE CosineAndSine cosine_and_sine(double angle) {
  if (!(absolute(angle) < 0x1p40)) return {cosine(angle), sine(angle)};
  constexpr double quarters_of_one = 0x1.45f306dc9c883p-1;  // 2 / pi
  constexpr double quarter = 0x1.921fb54442d18p+0;
  constexpr double rest_of_quarter = 0x1.1a62633145c07p-54;
  constexpr double to_integer = 0x1.8p52;  // a sum with it has no fraction, and its lowest bits are the integer's
  const double shifted = fused_multiply_add(angle, quarters_of_one, to_integer);
  const double quarters = shifted - to_integer;
  const auto turned = static_cast<unsigned>(bits_of(shifted) & 3);
  const double r = fused_multiply_add(-quarters, rest_of_quarter, fused_multiply_add(-quarters, quarter, angle));
  const double square = r * r;
  const double along = cosine_near_zero(square);
  const double across = sine_near_zero(r, square);
  const double c = turned % 2 == 0 ? along : across;
  const double s = turned % 2 == 0 ? across : along;
  return {turned == 1 || turned == 2 ? -c : c, turned >= 2 ? -s : s};
}

}  // namespace ingot::device
