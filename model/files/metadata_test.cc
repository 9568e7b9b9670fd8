#include "model/files/metadata.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace ingot {
namespace {

Metadata sample() {
  Metadata metadata;
  metadata.set_text("name", "tiny");
  metadata.set_scalar("layers", std::uint32_t{4});
  metadata.set_integer("shift", -7);
  metadata.set_scalar("epsilon", 0.5f);
  metadata.set_boolean("tied", true);
  metadata.set_scalar("huge", std::numeric_limits<std::uint64_t>::max());
  const std::string_view tokens[] = {"a", "", "bcd"};
  metadata.set_text_list("tokens", tokens);
  const std::int32_t types[] = {1, -2, 3};
  metadata.set_scalar_list<std::int32_t>("types", types);
  const std::uint64_t large[] = {1, std::numeric_limits<std::uint64_t>::max()};
  metadata.set_scalar_list<std::uint64_t>("large", large);
  metadata.set_scalar_list<std::int64_t>("none", {});
  return metadata;
}

TEST(Metadata, KeepsTheOrderInWhichKeysWereSet) {
  const Metadata metadata = sample();
  ASSERT_EQ(metadata.entries().size(), 10u);
  EXPECT_EQ(metadata.entries()[0].key, "name");
  EXPECT_EQ(metadata.entries()[3].key, "epsilon");
  EXPECT_EQ(metadata.entries()[9].key, "none");
}

TEST(Metadata, GettersConvertWhatFits) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.text("name").value(), "tiny");
  EXPECT_EQ(metadata.integer("layers").value(), 4);
  EXPECT_EQ(metadata.integer("shift").value(), -7);
  EXPECT_EQ(metadata.number("epsilon").value(), 0.5);
  EXPECT_EQ(metadata.number("layers").value(), 4.0);
  EXPECT_EQ(metadata.number("huge").value(), 18446744073709551615.0);
  EXPECT_TRUE(metadata.boolean("tied").value());
  const TextList tokens = metadata.text_list("tokens").value();
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1], "");
  EXPECT_EQ(tokens[2], "bcd");
  const ScalarList types = metadata.integer_list("types").value();
  ASSERT_EQ(types.size(), 3u);
  EXPECT_EQ(types.integer(1), -2);
  EXPECT_EQ(types.number(2), 3.0);
}

TEST(Metadata, WrongKindsAreErrorsThatNameTheKey) {
  const Metadata metadata = sample();
  for (const Error& error : {metadata.integer("name").error(), metadata.number("name").error(),
                             metadata.boolean("name").error(), metadata.text_list("name").error(),
                             metadata.number_or("name", 1).error(), metadata.boolean_or("name", true).error()}) {
    EXPECT_NE(error.text().find("'name'"), std::string_view::npos) << error.text();
    EXPECT_NE(error.text().find("found text"), std::string_view::npos) << error.text();
  }
  EXPECT_FALSE(metadata.integer("tied").ok());
  EXPECT_FALSE(metadata.integer("epsilon").ok());
  EXPECT_FALSE(metadata.text("layers").ok());
  EXPECT_FALSE(metadata.integer("types").ok());
  EXPECT_FALSE(metadata.text_list("types").ok());
  EXPECT_FALSE(metadata.number_list("tokens").ok());
  EXPECT_FALSE(metadata.boolean_list("types").ok());
}

TEST(Metadata, IntegersThatDoNotFitAreErrors) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.integer("huge").error().code(), ErrorCode::overflow);
  EXPECT_EQ(metadata.integer_list("large").error().code(), ErrorCode::overflow);
  EXPECT_TRUE(metadata.number_list("large").ok());
}

TEST(Metadata, AbsentKeysHaveDefaultsOnlyWhereAsked) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.integer("absent").error().code(), ErrorCode::not_found);
  EXPECT_EQ(metadata.integer_or("absent", 9).value(), 9);
  EXPECT_EQ(metadata.number_or("absent", 0.25).value(), 0.25);
  EXPECT_EQ(metadata.text_or("absent", "x").value(), "x");
  EXPECT_TRUE(metadata.boolean_or("absent", true).value());
  EXPECT_TRUE(metadata.text_list_or_empty("absent").value().empty());
  EXPECT_TRUE(metadata.number_list_or_empty("absent").value().empty());
}

TEST(Metadata, AnEmptyListIsAListOfAnything) {
  const Metadata metadata = sample();
  EXPECT_TRUE(metadata.text_list("none").value().empty());
  EXPECT_TRUE(metadata.number_list("none").value().empty());
  EXPECT_TRUE(metadata.boolean_list("none").value().empty());
}

TEST(Metadata, SettingAgainReplacesInPlace) {
  Metadata metadata = sample();
  metadata.set_text("layers", "four");
  EXPECT_EQ(metadata.entries().size(), 10u);
  EXPECT_EQ(metadata.entries()[1].key, "layers");
  EXPECT_EQ(metadata.text("layers").value(), "four");
}

TEST(Metadata, CopiesOutliveTheirOriginal) {
  Metadata copy;
  {
    const Metadata original = sample();
    copy = original;
    EXPECT_EQ(copy, original);
  }
  EXPECT_EQ(copy.text("name").value(), "tiny");
  EXPECT_EQ(copy.text_list("tokens").value()[2], "bcd");
  Metadata other = copy;
  other.set_scalar("layers", std::uint64_t{4});
  EXPECT_NE(copy, other) << "the kind is part of the value";
}

TEST(Metadata, AViewUnderAKnownKeyIsAnError) {
  Metadata metadata = sample();
  EXPECT_EQ(metadata.add_view("name", {}).error().code(), ErrorCode::corrupt);
}

TEST(Metadata, LongKeysAreCutInErrors) {
  const Metadata metadata;
  const std::string key(100000, '\x1b');
  const Result<double> number = metadata.number(key);
  EXPECT_NE(number.error().text().find("\\x1b"), std::string_view::npos);
  EXPECT_NE(number.error().text().find("...'"), std::string_view::npos);
}

}  // namespace
}  // namespace ingot
