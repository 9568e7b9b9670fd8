#include "model/chat/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "model/chat/dictionary.h"
#include "model/chat/local_time.h"
#include "model/chat/template_text.h"
#include "model/chat/unicode.h"
#include "model/chat/value_json.h"
#include "model/chat/value_text.h"

namespace ingot::chat {
namespace {

TEST(Value, FloatsPrintAsInPython) {
  const std::pair<double, std::string_view> rows[] = {{0.0, "0.0"},
                                                      {-0.0, "-0.0"},
                                                      {1.0, "1.0"},
                                                      {0.1, "0.1"},
                                                      {1e15, "1000000000000000.0"},
                                                      {1e16, "1e+16"},
                                                      {0.0001, "0.0001"},
                                                      {0.00001, "1e-05"},
                                                      {123.456, "123.456"},
                                                      {5e-324, "5e-324"},
                                                      {1.5e300, "1.5e+300"},
                                                      {1.0 / 3, "0.3333333333333333"},
                                                      {-1e-7, "-1e-07"},
                                                      {std::numeric_limits<double>::infinity(), "inf"}};
  for (const auto& [number, text] : rows) EXPECT_EQ(float_text(number), text);
}

TEST(Dictionary, KeepsOrderAndTreatsEqualNumbersAsOneKey) {
  Dictionary dictionary;
  for (int round = 0; round < 2; ++round) {
    for (int index = 0; index < 20; ++index) dictionary.insert("key" + std::to_string(index), Value::integer(round));
  }
  ASSERT_EQ(dictionary.size(), 20u);
  EXPECT_EQ(dictionary.entries()[7].key.bytes(), "key7");
  EXPECT_EQ(dictionary.find("key19")->as_integer(), 1);
  EXPECT_EQ(dictionary.find("key20"), nullptr);
  EXPECT_TRUE(dictionary.insert(Value::integer(1), Value::text("one")));
  EXPECT_TRUE(dictionary.insert(Value::boolean(true), Value::text("true")));
  EXPECT_EQ(dictionary.find(Value::floating(1.0))->bytes(), "true");
  EXPECT_EQ(dictionary.size(), 21u);
  EXPECT_FALSE(dictionary.insert(Value::list({}), Value()));
  const Dictionary copy = dictionary;
  dictionary = Dictionary();
  EXPECT_EQ(copy.find("key3")->as_integer(), 1);
}

TEST(ValueJson, ReadsEveryKindAndKeepsOrder) {
  const auto value =
      value_from_json(R"({"z": [1, -2.5, true, null, "\u00e9\ud83d\ude00"], "a": {}, "z2": 9223372036854775807})");
  ASSERT_TRUE(value.ok()) << value.error().text();
  const auto& entries = value.value().as_dictionary().entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key.bytes(), "z");
  EXPECT_EQ(entries[0].value.items()[4].bytes(), "é😀");
  EXPECT_EQ(entries[0].value.items()[1].as_floating(), -2.5);
  EXPECT_EQ(entries[2].value.as_integer(), std::numeric_limits<std::int64_t>::max());
}

TEST(ValueJson, RefusesWhatItCannotHold) {
  EXPECT_FALSE(value_from_json("").ok());
  EXPECT_FALSE(value_from_json("[1,]").ok());
  EXPECT_FALSE(value_from_json("{} {}").ok());
  EXPECT_FALSE(value_from_json("18446744073709551615").ok());
  EXPECT_FALSE(value_from_json("123456789012345678901234567890").ok());
  EXPECT_FALSE(value_from_json(std::string(100000, '[')).ok());
  EXPECT_TRUE(value_from_json(std::string(90, '[') + std::string(90, ']')).ok());
}

TEST(ValueJson, KeepsHowANumberIsWrittenThatADoubleChanges) {
  for (const char* text : {"0.30000000000000001", "1.0000000000000000001e3", "12345678901234567.5", "4e-320"}) {
    const Value value = value_from_json(text).value();
    ASSERT_EQ(value.kind(), Kind::floating) << text;
    EXPECT_EQ(value.spelling(), text);
    EXPECT_TRUE(value.is_same_as(Value::floating(value.as_floating()))) << text;
    EXPECT_EQ(value.type_name(), "float");
  }
  EXPECT_EQ(value_from_json("0.30000000000000001").value().as_floating(), 0.3);
  for (const char* text : {"0.3", "0.000", "1e300", "123456789.012345", "-0.0", "0.00000000000000000000000000001"}) {
    EXPECT_EQ(value_from_json(text).value().spelling(), "") << text;
  }
}

TEST(ValueJson, HasAtMostAMillionValues) {
  std::string json = "[0";
  for (std::size_t item = 0; item < most_json_values; ++item) json += ",0";
  const auto more = value_from_json(json + "]");
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().text().find("1000000"), std::string_view::npos) << more.error().text();
  std::size_t left = 5;
  EXPECT_TRUE(value_from_json("[1,2]", left).ok());
  EXPECT_EQ(left, 2u);
  EXPECT_FALSE(value_from_json("[1,2]", left).ok());
  EXPECT_FALSE(value_from_json("1", left).ok());
}

TEST(Utf8, BytesThatAreNoUtf8SurviveAndCountAsOne) {
  const std::string text = "a\xFF\xC3\xC3\xA9\xED\xA0\x80z";
  EXPECT_EQ(count_code_points(text), 8u);
  EXPECT_EQ(utf8_of(code_points_of(text)), text);
  EXPECT_EQ(uppercase(text), "A\xFF\xC3\xC3\x89\xED\xA0\x80Z");
}

TEST(Unicode, CaseMapsAsInPython) {
  EXPECT_EQ(uppercase("straße ŉ ǆ"), "STRASSE ʼN Ǆ");
  EXPECT_EQ(lowercase("ΑΣ ΣΑΣ İ"), "ας σας i̇");
  EXPECT_EQ(titlecase("they're ǆabc"), "They'Re ǅabc");
  EXPECT_EQ(capitalize("éCOLE"), "École");
  EXPECT_EQ(swapcase("aBß"), "AbSS");
  EXPECT_EQ(casefold("Straße"), "strasse");
}

TEST(LocalTime, PrintsDates) {
  const LocalTime noon = {2024, 7, 26, 12, 5, 9};
  EXPECT_EQ(format_time(noon, "%Y-%m-%d %H:%M:%S %A %a %B %b %j %p %I %y %% %-m").value(),
            "2024-07-26 12:05:09 Friday Fri July Jul 208 PM 12 24 % 7");
  EXPECT_EQ(format_time(noon, "%U %W %V %G %u %w %e|%c|%x|%X|%q").value(),
            "29 30 30 2024 5 5 26|Fri Jul 26 12:05:09 2024|07/26/24|12:05:09|%q");
  EXPECT_EQ(format_time({2021, 1, 3}, "%G-W%V-%u %j %e").value(), "2020-W53-7 003  3");
  EXPECT_EQ(format_time({2026, 12, 31}, "%G-W%V %U").value(), "2026-W53 52");
  EXPECT_FALSE(format_time({2024, 13, 1}, "%Y").ok());
}

}  // namespace
}  // namespace ingot::chat
