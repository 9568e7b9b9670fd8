#include "kernels/device/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/device/dot.h"

// What these words mean where they are emulated can be called without a device.
namespace ingot::device {
namespace {

TEST(DeviceNumbers, ConversionsRoundAsTheHostsDo) {
  for (std::uint32_t bits = 0; bits < 0xffffff00u; bits += 0x10f31) {
    const float value = float_of_bits(bits);
    ASSERT_EQ(to_half(value).bits, half_bits_from_float(value));
    ASSERT_EQ(to_bfloat16(value).bits, bfloat16_bits_from_float(value));
    ASSERT_EQ(pack_halves(value, 1), 0x3c000000u | half_bits_from_float(value));
    ASSERT_EQ(pack_bfloat16s(1, value), 0x3f80u | std::uint32_t{bfloat16_bits_from_float(value)} << 16);
  }
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t word = bits | (bits ^ 0x8000u) << 16;
    if ((bits & 0x7c00) != 0x7c00) {
      ASSERT_EQ(first_half(word), float_from_half_bits(static_cast<std::uint16_t>(bits)));
      ASSERT_EQ(second_half(word), -first_half(word));
    }
    if ((bits & 0x7f80) != 0x7f80) {
      ASSERT_EQ(first_bfloat16(word), float_from_bfloat16_bits(static_cast<std::uint16_t>(bits)));
      ASSERT_EQ(second_bfloat16(word), -first_bfloat16(word));
    }
  }
  EXPECT_EQ(to_float(from_float<BFloat16>(1.5f)) + to_float(from_float<Half>(0.25f)) + from_float<float>(2), 3.75f);
}

TEST(DeviceNumbers, NearestIntegersStayInRange) {
  EXPECT_EQ(nearest_integer(2.5f), 2);
  EXPECT_EQ(nearest_integer(3.5f), 4);
  EXPECT_EQ(nearest_integer(-2.5f), -2);
  EXPECT_EQ(nearest_integer(3e9f), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(nearest_integer(-infinity), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(nearest_integer(std::nanf("")), 0);
}

TEST(DeviceNumbers, FusedProductsRoundOnce) {
  const float third = 1.0f / 3;
  EXPECT_NE(fused_multiply_add(third, third, -third * third), 0.0f);
  EXPECT_EQ(maximum(std::nanf(""), 1), 1);
  EXPECT_TRUE(is_nan(std::nanf("")) && !is_nan(infinity) && !is_finite(infinity) && is_finite(-0.0f));
  EXPECT_EQ(approximate_exponential_of_2(-130), 0.0f);
  EXPECT_EQ(approximate_exponential_of_2(-3), 0.125f);
}

TEST(DeviceNumbers, HalvesOfAWordAreAddedEachForItself) {
  EXPECT_EQ(add_halves(pack_halves(1.5f, -2), pack_halves(0.25f, 7)), pack_halves(1.75f, 5));
  EXPECT_EQ(add_halves(pack_halves(2048, 2048), pack_halves(1, 3)), pack_halves(2048, 2052));  // to the nearest, even
}

TEST(DeviceNumbers, BytesAreSelectedFromTwoWords) {
  EXPECT_EQ(select_bytes(0x33221100u, 0x77665544u, 0x7351u), 0x77335511u);
  EXPECT_EQ(select_bytes(0x33221100u, 0x77665544u, 0x4140u), 0x44114400u);
}

TEST(DeviceDot, BytesHaveTheSignThatIsAskedFor) {
  constexpr std::uint32_t lowest = 0x80808080u;
  constexpr std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(dot_product_4x8(lowest, lowest, 0), 4 * 128 * 128);
  EXPECT_EQ(dot_product_4x8(lowest, 0x7f7f7f7fu, 5), -4 * 128 * 127 + 5);
  EXPECT_EQ(dot_product_4x8(ones, ones, 0), 4);
  EXPECT_EQ(dot_product_4x8_unsigned_signed(ones, lowest, 0), -4 * 255 * 128);
  EXPECT_EQ(dot_product_4x8_unsigned_signed(lowest, ones, 7), -4 * 128 + 7);
  EXPECT_EQ(dot_product_4x8_unsigned(ones, ones, 0), 4u * 255 * 255);
  EXPECT_EQ(dot_product_4x8(0x04030201u, 0x08070605u, 100), 100 + 5 + 12 + 21 + 32);
  EXPECT_EQ(dot_product_4x8(lowest, lowest, std::numeric_limits<std::int32_t>::max()),
            std::numeric_limits<std::int32_t>::min() + 4 * 128 * 128 - 1);
}

}  // namespace
}  // namespace ingot::device
