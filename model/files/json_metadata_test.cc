#include "model/files/json_metadata.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot {
namespace {

TEST(JsonMetadata, JoinsNestedKeysAndKeepsKinds) {
  const Result<Metadata> read = metadata_from_json(R"({
    "model_type": "llama", "layers": 4, "shift": -1, "theta": 1e4, "tied": false, "nothing": null,
    "huge": 18446744073709551615, "architectures": ["A", "B"], "rope_scaling": {"factor": 2.5, "inner": {"deep": 1}},
    "short_factor": [1, 2.5], "eos": [1, 2], "flags": [true, false], "none": [], "empty": {}, "after": 7})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Metadata& metadata = read.value();
  EXPECT_EQ(metadata.entries().front().key, "model_type");
  EXPECT_EQ(metadata.entries().back().key, "after");
  EXPECT_EQ(metadata.text("model_type").value(), "llama");
  EXPECT_EQ(metadata.integer("layers").value(), 4);
  EXPECT_EQ(metadata.integer("shift").value(), -1);
  EXPECT_EQ(metadata.number("theta").value(), 10000.0);
  EXPECT_FALSE(metadata.boolean("tied").value());
  EXPECT_FALSE(metadata.has("nothing"));
  EXPECT_TRUE(metadata.is_null("nothing"));
  EXPECT_FALSE(metadata.is_null("absent"));
  EXPECT_FALSE(metadata.is_null("layers"));
  EXPECT_EQ(metadata.find("huge")->kind, ValueKind::u64);
  EXPECT_EQ(metadata.text_list("architectures").value()[1], "B");
  EXPECT_EQ(metadata.number("rope_scaling.factor").value(), 2.5);
  EXPECT_EQ(metadata.integer("rope_scaling.inner.deep").value(), 1);
  EXPECT_EQ(metadata.number_list("short_factor").value().number(0), 1.0);
  EXPECT_EQ(metadata.number_list("short_factor").value().number(1), 2.5);
  EXPECT_EQ(metadata.integer_list("eos").value().integer(1), 2);
  EXPECT_TRUE(metadata.boolean_list("flags").value().boolean(0));
  EXPECT_TRUE(metadata.text_list("none").value().empty());
}

TEST(JsonMetadata, MixedListsGetIndexedKeys) {
  const Metadata metadata =
      metadata_from_json(R"({"a": [1, {"b": 2}, "x", [3, 4], null, 5], "m": [1, "t"], "z": 0})").value();
  EXPECT_EQ(metadata.integer("a.0").value(), 1);
  EXPECT_EQ(metadata.integer("a.1.b").value(), 2);
  EXPECT_EQ(metadata.text("a.2").value(), "x");
  EXPECT_EQ(metadata.integer_list("a.3").value().integer(0), 3);
  EXPECT_FALSE(metadata.has("a.4"));
  EXPECT_EQ(metadata.integer("a.5").value(), 5);
  EXPECT_EQ(metadata.text("m.1").value(), "t");
  EXPECT_EQ(metadata.integer("z").value(), 0);
}

TEST(JsonMetadata, BareWordsOfPythonReadAsNewerConfigurationsSpellThem) {
  const Metadata bare =
      metadata_from_json(R"({"a": [0.0, Infinity], "b": -Infinity, "c": NaN, "d": "\\\"NaN"})").value();
  const Metadata spelled =
      metadata_from_json(R"({"a": [0.0, {"__float__": "Infinity"}], "b": {"__float__": "-Infinity"},
                                                  "c": {"__float__": "NaN"}, "d": "\\\"NaN"})")
          .value();
  EXPECT_EQ(bare, spelled);
  EXPECT_EQ(bare.text("a.1.__float__").value(), "Infinity");
  EXPECT_EQ(bare.text("d").value(), "\\\"NaN");
  EXPECT_FALSE(metadata_from_json(R"({"a": 1Infinity})").ok());
}

TEST(JsonMetadata, ErrorsSayWhatIsWrong) {
  const auto error_of = [](std::string_view json) { return std::string(metadata_from_json(json).error().text()); };
  EXPECT_NE(error_of("[1]").find("expected an object, found a list"), std::string::npos);
  EXPECT_NE(error_of("1").find("found a single value"), std::string::npos);
  EXPECT_NE(error_of("null").find("found a single value"), std::string::npos);
  EXPECT_NE(error_of("").find("expected JSON"), std::string::npos);
  EXPECT_NE(error_of(R"({"a":1,"a":2})").find("'a' again"), std::string::npos);
  EXPECT_NE(error_of(R"({"a":{"b":1},"a.b":2})").find("'a.b' again"), std::string::npos);
  EXPECT_NE(error_of(R"({"a":)" + std::string(100000, '[')).find("at most 64 deep"), std::string::npos);
  EXPECT_NE(error_of(R"({")" + std::string(300, 'k') + R"(":1})").find("at most 256 bytes"), std::string::npos);
  EXPECT_NE(error_of(std::string(9 << 20, ' ')).find("bytes, found 9437184"), std::string::npos);
}

}  // namespace
}  // namespace ingot
