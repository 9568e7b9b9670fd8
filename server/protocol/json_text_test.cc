#include "server/protocol/json_text.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/random.h"
#include "base/utf8.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

std::string escaped(std::string_view text) {
  std::string json;
  append_escaped(json, text);
  return json;
}

TEST(JsonText, EscapesWhatJsonMust) {
  EXPECT_EQ(escaped("plain"), "plain");
  EXPECT_EQ(escaped("a\"b\\c\n\r\t\x01\x1f/"), "a\\\"b\\\\c\\n\\r\\t\\u0001\\u001f/");
  EXPECT_EQ(escaped(std::string_view("\0x", 2)), "\\u0000x");
  EXPECT_EQ(escaped("h\xC3\xA9 \xF0\x9F\x98\x80"), "h\xC3\xA9 \xF0\x9F\x98\x80");
}

TEST(JsonText, EscapesWhatSomeReadersTakeForTheEndOfALine) {
  EXPECT_EQ(escaped("a\xC2\x85\xE2\x80\xA8\xE2\x80\xA9z"), "a\\u0085\\u2028\\u2029z");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(escaped("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(escaped("\xE2\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(escaped("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(JsonText, KeepsEveryCharacter) {
  for (CodePoint code = 0; code < code_point_limit; code += code < 0x3000 ? 1 : 61) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    std::string text = "<";
    append_utf8(text, code);
    text += ">";
    const chat::Value read = json_value('"' + escaped(text) + '"');
    ASSERT_TRUE(read.is_text()) << code;
    ASSERT_EQ(read.bytes(), text) << code;
  }
}

TEST(JsonText, IsJsonWhateverTheBytes) {
  RandomNumbers random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    for (std::uint64_t length = random.next() % 24; length > 0; --length) {
      // Mostly bytes that begin, continue or end characters.
      constexpr std::string_view lively = "\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80\xED\xFF\"\\\n a";
      bytes += random.next() % 4 == 0 ? static_cast<char>(random.next()) : lively[random.next() % lively.size()];
    }
    const chat::Value read = json_value('"' + escaped(bytes) + '"');
    ASSERT_TRUE(read.is_text());
    std::string expected;
    for (std::size_t place = 0; place < bytes.size();) {
      const DecodedCharacter character = decode_utf8(bytes, place);
      append_utf8(expected, character.code);
      place += character.size;
    }
    ASSERT_EQ(read.bytes(), expected);
  }
}

TEST(JsonText, SpellsNumbersSoThatTheyReadBack) {
  RandomNumbers random(2);
  for (int round = 0; round < 3000; ++round) {
    const auto value = std::bit_cast<double>(random.next());
    if (!(std::abs(value) <= std::numeric_limits<double>::max())) continue;
    std::string json;
    append_number(json, value);
    ASSERT_EQ(std::strtod(json.c_str(), nullptr), value) << json;
    // Whole numbers beyond 64 bits are JSON too, though not what this server reads.
    if (std::abs(value) < 9e18 || json.find('e') != std::string::npos) json_value(json);
  }
  std::string json;
  append_number(json, 0.1f);
  EXPECT_EQ(json, "0.1");
}

TEST(JsonText, HasNoNumbersThatJsonLacks) {
  std::string json;
  JsonWriter(json)
      .open_list()
      .number(std::numeric_limits<double>::quiet_NaN())
      .number(std::numeric_limits<float>::infinity())
      .number(-std::numeric_limits<double>::infinity())
      .number(std::numeric_limits<std::int64_t>::min())
      .close_list();
  EXPECT_EQ(json, "[0,3.4028235e+38,-1.7976931348623157e+308,-9223372036854775808]");
  json_value(json);
}

TEST(JsonText, PutsCommas) {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("a").open_list().close_list().key("b").open_object().close_object();
  writer.key("c").open_list().number(1).text("x").null().boolean(true).raw("{}").open_list().close_list().close_list();
  writer.close_object();
  EXPECT_EQ(json, R"({"a":[],"b":{},"c":[1,"x",null,true,{},[]]})");
}

}  // namespace
}  // namespace ingot::protocol
