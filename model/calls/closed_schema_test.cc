#include "model/calls/closed_schema.h"

#include <gtest/gtest.h>

#include "model/calls/tool.h"
#include "model/chat/value_json.h"

namespace ingot::calls {
namespace {

std::string closed(std::string_view json) { return json_text(closed_schema(chat::value_from_json(json).value())); }

TEST(ClosedSchema, ObjectsHaveDeclaredPropertiesAlone) {
  EXPECT_EQ(closed(R"({"type": "object", "properties": {"a": {"properties": {}}}})"),
            R"({"type": "object", "properties": {"a": {"properties": {}, "additionalProperties": false}}, )"
            R"("additionalProperties": false})");
  EXPECT_EQ(closed(R"({"items": {"properties": {}}})"),
            R"({"items": {"properties": {}, "additionalProperties": false}})");
  EXPECT_EQ(closed(R"({"anyOf": [{"properties": {}}, true]})"),
            R"({"anyOf": [{"properties": {}, "additionalProperties": false}, true]})");
  EXPECT_EQ(closed(R"({"$defs": {"b": {"properties": {}}}, "properties": {"a": {"$ref": "#/$defs/b"}}})"),
            R"({"$defs": {"b": {"properties": {}, "additionalProperties": false}}, )"
            R"("properties": {"a": {"$ref": "#/$defs/b"}}, "additionalProperties": false})");
}

TEST(ClosedSchema, WhatASchemaSaysOfOthersStays) {
  for (const std::string_view same : {
           R"({"type": "object"})",
           R"({"properties": {}, "additionalProperties": true})",
           R"({"properties": {}, "patternProperties": {"^x": {}}})",
           R"({"enum": [{"properties": {}}]})",
           R"({"const": {"properties": {}}})",
       }) {
    EXPECT_EQ(closed(same), same);
  }
}

TEST(ClosedSchema, PartsOfOneObjectForbidNothingOfEachOther) {
  for (const std::string_view same : {
           R"({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]})",
           R"({"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}]})",
           R"({"properties": {"a": {}}, "$ref": "#/$defs/b", "$defs": {"b": {"properties": {}}}})",
           R"({"properties": {"a": {"if": {"properties": {}}}}})",
       }) {
    EXPECT_EQ(closed(same), same);
  }
}

}  // namespace
}  // namespace ingot::calls
