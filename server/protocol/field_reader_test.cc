#include "server/protocol/field_reader.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

struct Target {
  std::string text = "before";
  bool flag = false;
  double number = 0.5;
  std::int64_t integer = 7;
  std::optional<std::int64_t> optional;
};

Outcome<Target> read_target(std::string_view json) {
  const chat::Dictionary object = json_object(json);
  FieldReader reader(object, "place[1]");
  Target target;
  reader.read("text", target.text);
  reader.read("flag", target.flag);
  reader.read("number", target.number, {-1, 2});
  reader.read("integer", target.integer, {0, 10});
  reader.read("optional", target.optional, Integers{});
  reader.harmless("user", chat::Kind::text);
  reader.refused("tools", "tools");
  TRY(reader.finish());
  return target;
}

void expect_refused(std::string_view json, std::string_view param, std::string_view message) {
  const Outcome<Target> read = read_target(json);
  ASSERT_FALSE(read.ok()) << json;
  EXPECT_EQ(read.error().status, 400);
  EXPECT_EQ(read.error().param, param);
  EXPECT_EQ(read.error().message, message);
}

TEST(FieldReader, ReadsFieldsByTheirTypes) {
  const Outcome<Target> read =
      read_target(R"({"text":"x","flag":true,"number":2,"integer":10.0,"optional":-3,"user":"u"})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().text, "x");
  EXPECT_TRUE(read.value().flag);
  EXPECT_EQ(read.value().number, 2);
  EXPECT_EQ(read.value().integer, 10);
  EXPECT_EQ(read.value().optional, -3);
}

TEST(FieldReader, TakesNullForAbsent) {
  const Outcome<Target> read = read_target(
      R"({"text":null,"flag":null,"number":null,"integer":null,"optional":null,"user":null,"tools":null,"other":null})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().text, "before");
  EXPECT_EQ(read.value().integer, 7);
  EXPECT_FALSE(read.value().optional.has_value());
}

TEST(FieldReader, SaysWhatWasExpectedAndFound) {
  expect_refused(R"({"text":5})", "place[1].text", "place[1].text: expected a text, found 5");
  expect_refused(R"({"flag":"yes"})", "place[1].flag", "place[1].flag: expected true or false, found the text 'yes'");
  expect_refused(R"({"number":2.5})", "place[1].number", "place[1].number: expected a number from -1 to 2, found 2.5");
  expect_refused(R"({"number":true})", "place[1].number",
                 "place[1].number: expected a number from -1 to 2, found true");
  expect_refused(R"({"integer":-1})", "place[1].integer",
                 "place[1].integer: expected a whole number from 0 to 10, found -1");
  expect_refused(R"({"integer":1.5})", "place[1].integer",
                 "place[1].integer: expected a whole number from 0 to 10, found 1.5");
  expect_refused(R"({"optional":[1,2]})", "place[1].optional",
                 "place[1].optional: expected a whole number, found a list of 2");
  expect_refused(R"({"user":{}})", "place[1].user", "place[1].user: expected a text, found an object");
}

TEST(FieldReader, RefusesByName) {
  expect_refused(R"({"tools":[]})", "place[1].tools", "tools is not served yet: leave it out");
  expect_refused(R"({"foo":1})", "place[1].foo", "unknown field 'foo'");
  expect_refused(R"({"nubmer":1})", "place[1].nubmer", "unknown field 'nubmer': is 'number' meant?");
}

TEST(FieldReader, KeepsTheFirstError) {
  expect_refused(R"({"integer":99,"text":1,"foo":1})", "place[1].text", "place[1].text: expected a text, found 1");
}

TEST(FieldReader, CutsLongTextsBetweenCharacters) {
  std::string text;
  for (int count = 0; count < 100; ++count) text += "\xC3\xA9";
  EXPECT_EQ(described(chat::Value::text("x" + text)), "the text 'x" + text.substr(0, 58) + "...'");
}

TEST(FieldReader, KnowsWhatWasAskedFor) {
  const chat::Dictionary empty;
  FieldReader reader(empty);
  bool flag = false;
  reader.read("a", flag);
  reader.harmless("b", chat::Kind::text);
  reader.refused("c", "c");
  reader.fail(wrong_field("x", "x"));
  reader.read("d", flag);
  ASSERT_EQ(reader.known().size(), 4u);
  EXPECT_EQ(reader.known()[1].use, FieldUse::harmless);
  EXPECT_EQ(reader.known()[2].use, FieldUse::refused);
  EXPECT_EQ(reader.known()[3].name, "d");
}

}  // namespace
}  // namespace ingot::protocol
