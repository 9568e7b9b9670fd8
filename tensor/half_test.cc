#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ingot {
namespace {

TEST(Half, EveryBitPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_half_bits(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_half_bits(half_bits_from_float(value))));
    } else {
      EXPECT_EQ(half_bits_from_float(value), half) << bits;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(static_cast<float>(Half(1.0f + 0x1p-11f)), 1.0f);                // a tie: to the even 1
  EXPECT_EQ(static_cast<float>(Half(1.0f + 3 * 0x1p-11f)), 1.0f + 0x1p-9f);  // a tie: up to even
  EXPECT_EQ(static_cast<float>(Half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(Half(65520.0f))));
  EXPECT_EQ(static_cast<float>(Half(0x1p-25f)), 0.0f);  // a tie with the smallest subnormal
  EXPECT_EQ(static_cast<float>(Half(0x1.8p-25f)), 0x1p-24f);
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(static_cast<float>(BFloat16(1.0f + 0x1p-8f)), 1.0f);
  EXPECT_EQ(static_cast<float>(BFloat16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16(HUGE_VALF))));
}

}  // namespace
}  // namespace ingot
