#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "base/edit_distance.h"
#include "base/random.h"
#include "base/units.h"

namespace ingot {
namespace {

using namespace literals;

Result<std::int64_t> area(std::int64_t width, std::int64_t height) {
  const std::int64_t product = TRY(checked_multiply(width, height));
  return TRY(checked_add(product, 0));
}

TEST(FixedText, AppendsNumbersOfEveryKind) {
  EXPECT_EQ(text_of("a", 1, 'b', -2, true, std::uint64_t{18446744073709551615u}).view(),
            "a1b-2true18446744073709551615");
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()).view(), "-9223372036854775808");
}

TEST(FixedText, CutsWhatDoesNotFitAndSaysSo) {
  const auto text = text_of<4>("abcdef");
  EXPECT_EQ(text.view(), "abcd");
  EXPECT_TRUE(text.truncated());
}

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("norm", ""), 4u);
  EXPECT_EQ(edit_distance("rms_norm", "rms_nrom"), 2u);
  EXPECT_EQ(edit_distance("relu", "gelu"), 1u);
  EXPECT_LE(edit_distance(std::string(1000, 'a'), "b"), 64u);
}

TEST(RandomNumbers, AreTheSameOnEveryMachineAndContinueFromTheirState) {
  RandomNumbers numbers(0);
  EXPECT_EQ(numbers.next(), 0xe220a8397b1dcdafu);  // splitmix64's published first number
  RandomNumbers continued(numbers.state());
  EXPECT_EQ(numbers.next(), continued.next());
}

TEST(RandomNumbers, KeepTheirRangeMeanAndDeviation) {
  RandomNumbers numbers(1);
  double sum = 0;
  double squares = 0;
  std::uint64_t seen = 0;
  for (int count = 0; count < 10000; ++count) {
    const std::uint64_t index = numbers.below(7);
    ASSERT_LT(index, 7u);
    seen |= std::uint64_t{1} << index;
    const double normal = numbers.normal();
    sum += normal;
    squares += normal * normal;
  }
  EXPECT_EQ(seen, 127u);
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_NEAR(squares / 10000, 1, 0.05);
}

TEST(Result, TryHandsErrorsUpAndValuesOn) {
  EXPECT_EQ(area(6, 7).value(), 42);
  const Result<std::int64_t> overflow = area(std::numeric_limits<std::int64_t>::max(), 2);
  ASSERT_FALSE(overflow.ok());
  EXPECT_EQ(overflow.error().code(), ErrorCode::overflow);
  EXPECT_EQ(overflow.error().text(), "expected a product that fits 64 bits, found 9223372036854775807 x 2");
}

TEST(Result, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  Result<std::unique_ptr<int>> moved = std::move(result);
  EXPECT_EQ(*std::move(moved).value(), 5);
}

TEST(Result, AnAssignedResultForgetsWhatItHeld) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  result = Error::of(ErrorCode::not_found, "gone");
  EXPECT_FALSE(result.ok());
  result = std::make_unique<int>(6);
  EXPECT_EQ(*result.value(), 6);
}

TEST(Error, GathersContextOnItsWayUp) {
  const Error error = Error::of(ErrorCode::corrupt, "expected 3, found ", 4).within("while reading ", "x");
  EXPECT_EQ(error.text(), "while reading x: expected 3, found 4");
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
}

TEST(ResultDeathTest, AskingAnErrorForItsValueTraps) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)area(std::numeric_limits<std::int64_t>::max(), 2).value(), "");
}

TEST(Units, KeepTheirArithmetic) {
  EXPECT_EQ((1_MiB + 1_KiB).count(), 1049600u);
  EXPECT_LT(4_KiB, 1_MiB);
  EXPECT_EQ(divide_rounding_up(7, 3), 3);
  EXPECT_EQ(align_up(65, 64), 128u);
}

}  // namespace
}  // namespace ingot
