#include "model/grammar/json_schema.h"

#include <gtest/gtest.h>

#include "model/grammar/schema_cases.h"

namespace ingot::grammar {
namespace {

TEST(JsonSchema, Types) {
  check({R"({"type": "integer"})", {"0", "-12", "340"}, {"1.5", "01", "\"1\"", "1e2", "+1", "- 1"}});
  check({R"({"type": "number"})", {"0", "-1.50", "3e-7", "2E+10"}, {".5", "1.", "null", "0x1"}});
  check({R"({"type": ["null", "boolean"]})", {"null", "true", "false"}, {"0", "True", "\"null\""}});
  check({R"({"type": "string"})",
         {R"("a\n\u00e9\ud83d\ude42")", "\"\xE2\x82\xAC\"", "\"\""},
         {"\"\n\"", R"("\ud83d")", R"("\x")", "\"a", "\"\xFF\"", R"("\udc00\ud800")"}});
  check({"true", {"[1, {\"a\": [null]}, \"x\"]", "{}", "{ }", "[]"}, {"[1,]", "{\"a\"}", "", "[1 2]", "{,}"}});
}

TEST(JsonSchema, NumbersKeepTheirBounds) {
  check({R"({"type": "integer", "minimum": -3, "maximum": 120})",
         {"-3", "0", "9", "99", "120"},
         {"-4", "121", "-30", "200", "1000", "-0", "00", "1.0"}});
  check({R"({"type": "integer", "exclusiveMinimum": 9, "exclusiveMaximum": 11})", {"10"}, {"9", "11", "100", "1"}});
  check({R"({"type": "number", "minimum": 1.25, "exclusiveMaximum": 10})",
         {"1.25", "1.250", "1.3", "2", "9.999", "9"},
         {"1.24", "1.2", "1", "10", "10.0", "0.5", "-2", "1.249999", "1e1"}});
  check({R"({"type": "number", "exclusiveMinimum": -0.5, "maximum": 0})",
         {"-0.4", "-0.49999", "0", "0.0", "-0.10"},
         {"-0.5", "-0.50", "0.1", "-1", "-0.51"}});
  check(
      {R"({"type": "number", "maximum": -2.5})", {"-2.5", "-2.50", "-3", "-2.51", "-100"}, {"-2.4", "-2", "2.5", "0"}});
  check({R"({"type": "integer", "multipleOf": 7})", {"0", "7", "-14", "700", "2401"}, {"1", "70.5", "13", "-8"}});
  check({R"({"type": "number", "multipleOf": 0.25})", {"0.5", "1", "1.75", "-0.25", "2.50"}, {"0.3", "1.125", "0.2"}});
  check({R"({"type": "integer", "minimum": 10, "multipleOf": 15, "maximum": 50})",
         {"15", "30", "45"},
         {"0", "60", "20"}});
}

// All whole numbers and fractions of a range, for bounds of many kinds.
TEST(JsonSchema, BoundsAreThoseOfArithmetic) {
  for (const int least : {-105, -20, -1, 0, 1, 7, 19, 99}) {
    for (const int width : {0, 3, 11, 112}) {
      for (const bool is_exclusive : {false, true}) {
        const int most = least + width;
        const std::string prefix = is_exclusive ? "exclusiveM" : "m";
        const auto number = [](int tenths) {
          std::string text = tenths < 0 ? "-" : "";
          text.append(std::to_string(std::abs(tenths) / 10)).append(".").append(std::to_string(std::abs(tenths) % 10));
          return text;
        };
        std::string schema = "{\"type\": \"number\", \"";
        schema.append(prefix).append("inimum\": ").append(number(least)).append(", \"");
        schema.append(prefix).append("aximum\": ").append(number(most)).append("}");
        auto grammar = compile_json_schema(schema, {}, unhurried);
        if (is_exclusive && width == 0) {
          EXPECT_FALSE(grammar.ok());
          continue;
        }
        ASSERT_TRUE(grammar.ok()) << schema << grammar.error().text();
        for (int tenths = -300; tenths <= 300; ++tenths) {
          const bool is_in = is_exclusive ? tenths > least && tenths < most : tenths >= least && tenths <= most;
          EXPECT_EQ(takes(grammar.value(), number(tenths)), is_in) << schema << " " << number(tenths);
          if (tenths % 10 != 0) continue;
          EXPECT_EQ(takes(grammar.value(), std::to_string(tenths / 10)), is_in) << schema << " " << tenths / 10;
        }
      }
    }
  }
}

TEST(JsonSchema, TextsKeepLengthPatternAndFormat) {
  check({R"({"type": "string", "minLength": 2, "maxLength": 3})",
         {"\"ab\"", R"("\u0041\n\ud83d\ude42")",
          "\"\xE2\x82\xAC"
          "ab\""},
         {"\"a\"", "\"abcd\"", "\"\""}});
  check({R"({"type": "string", "pattern": "^[a-c]+$"})", {"\"abc\""}, {"\"abd\"", "\"\"", R"("\u0061")"}});
  check({R"({"type": "string", "pattern": "b"})", {"\"abc\"", R"("\"b\\")"}, {"\"ac\""}});
  check({R"({"type": "string", "pattern": "^a*$", "minLength": 2, "maxLength": 4})",
         {"\"aa\"", "\"aaaa\""},
         {"\"a\"", "\"aaaaa\"", "\"ab\""}});
  check({R"({"type": "string", "format": "date"})",
         {"\"2024-02-29\"", "\"1999-12-31\"", "\"2000-02-29\""},
         {"\"2023-02-29\"", "\"1900-02-29\"", "\"2024-04-31\"", "\"2024-13-01\"", "\"24-01-01\""}});
  check({R"({"type": "string", "format": "date-time"})",
         {"\"2024-02-29T12:30:00Z\"", "\"2024-02-29t12:30:00.5+01:00\""},
         {"\"2024-02-29 12:30:00Z\"", "\"2024-02-29T24:00:00Z\"", "\"2024-02-29T12:30:00\""}});
  check({R"({"type": "string", "format": "ipv4"})",
         {"\"127.0.0.1\"", "\"255.255.255.255\""},
         {"\"256.1.1.1\"", "\"1.2.3\"", "\"01.2.3.4\""}});
  check({R"({"type": "string", "format": "ipv6"})",
         {"\"::\"", "\"::1\"", "\"1:2:3:4:5:6:7:8\"", "\"1::8\"", "\"::ffff:1.2.3.4\"", "\"1:2:3:4:5:6:7::\""},
         {"\"1:2:3:4:5:6:7\"", "\"1::2::3\"", "\":::\"", "\"1:2:3:4:5:6:7:8:9\"", "\"12345::\"",
          "\"1:2:3:4:5:6:7:8::\""}});
  check({R"({"type": "string", "format": "uuid"})",
         {"\"2EB8AA08-aa98-11ea-b4aa-73b441d16380\""},
         {"\"2eb8aa08aa9811eab4aa73b441d16380\""}});
  check({R"({"type": "string", "format": "email"})",
         {"\"joe.b+x@example.com\""},
         {"\"joe\"", "\".joe@example.com\"", "\"joe@-a.com\""}});
  check({R"({"type": "string", "format": "hostname"})",
         {"\"www.example.com\""},
         {"\"-a.example\"", "\"a_b\"", "\"a..b\""}});
  check({R"({"type": "string", "format": "uri"})",
         {"\"http://foo.bar/?q=a%20b#f\"", "\"urn:a:b\"", "\"ftp://[::1]:21/x\""},
         {"\"//foo\"", "\"/abc\"", "\"http:// x\"", "\"bar,baz\""}});
  check({R"({"type": "string", "format": "uri-reference"})",
         {"\"//foo\"", "\"/abc\"", "\"a/b:c\"", "\"#f\"", "\"\"", "\"urn:a:b\"", "\"http://foo.bar/?q=a%20b#f\""},
         {"\"http:// x\"", "\"1a:b\"", "\"a\\\\b\"", "\"%2\"", "\"#a#b\""}});
  check({R"({"type": "string", "format": "byte"})",
         {"\"\"", "\"YQ==\"", "\"YWI=\"", "\"YWJj\""},
         {"\"Y\"", "\"YQ\"", "\"YQ=\"", "\"Y===\"", "\"YW-j\""}});
  check({R"({"type": "string", "format": "relative-json-pointer"})",
         {"\"0\"", "\"12#\"", "\"1/a~0b\""},
         {"\"/a\"", "\"01\"", "\"1#/a\"", "\"-1/a\""}});
}

TEST(JsonSchema, ListedValues) {
  check({R"({"enum": ["a", 1, 1.5, null, [1, "x"], {"k": true}]})",
         {"\"a\"", "1", "1.5", "null", "[1, \"x\"]", "{\"k\":true}"},
         {"\"b\"", "1.0", "[1]", "{}"}});
  check({R"({"type": "string", "enum": ["a", 1, "bcd"], "maxLength": 2})", {"\"a\""}, {"1", "\"bcd\""}});
  check({R"({"const": "q\"\n"})", {R"("q\"\n")"}, {R"("q\"\u000a")", "\"q\""}});
}

TEST(JsonSchema, ObjectsHaveTheirPropertiesInOrder) {
  const SchemaCase closed{
      R"({"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}, "c": true},
                "required": ["a"], "additionalProperties": false})",
      {R"({"b": 1, "a": "x"})", R"({"a":"x","c":[]})", "{\n  \"a\": \"\"\n}"},
      {R"({"a": "x", "b": 1})", R"({"b": 1})", "{}", R"({"a": "x", "d": 1})", R"({"a": "x",})", R"({"a": "x" "c": 1})",
       R"({"a": "x", "a": "y"})"}};
  check(closed);
  check({R"({"type": "object", "properties": {"a": {"type": "integer"}}})",
         {"{}", R"({"a": 1})", R"({"a": 1, "b": "x", "aa": 2})", R"({"b": null})"},
         {R"({"a": "x"})", R"({"b": 1, "a": "x"})", R"({"\u0061": "x"})", R"({"b": 1, "a": 1})"}});
  check({R"({"type": "object", "required": ["x"], "additionalProperties": {"type": "integer"}})",
         {R"({"x": 1})", R"({"x": 1, "y": 2})"},
         {"{}", R"({"x": "1"})", R"({"x": 1, "y": null})"}});
  check(
      {R"({"type": "object", "patternProperties": {"^n": {"type": "number"}, "s$": {"minimum": 5}}, "additionalProperties": false})",
       {"{}", R"({"n": 1, "ns": 5})", R"({"xs": "t"})"},
       {R"({"n": "x"})", R"({"ns": 4})", R"({"x": 1})", R"({"ns": "t"})"}});
  check({R"({"type": "object", "propertyNames": {"maxLength": 2}})", {R"({"ab": 1, "c": 2})"}, {R"({"abc": 1})"}});
  check(
      {R"({"type": "object", "properties": {"a": true, "b": true, "c": true}, "additionalProperties": false, "minProperties": 2, "maxProperties": 2})",
       {R"({"a": 1, "b": 2})", R"({"a": 1, "c": 2})", R"({"b":1,"c":2})"},
       {"{}", R"({"a": 1})", R"({"a":1,"b":2,"c":3})"}});
  check({R"({"type": "object", "maxProperties": 1})", {"{}", R"({"a": 1})"}, {R"({"a": 1, "b": 2})"}});
  check({R"({"type": "object", "minProperties": 1})", {R"({"a": 1})"}, {"{}"}});
  check({R"({"type": "object", "dependentRequired": {"a": ["b"]}})",
         {"{}", R"({"b": 1})", R"({"a":1,"b":1})"},
         {R"({"a": 1})"}});
}

TEST(JsonSchema, ArraysCountTheirItems) {
  check({R"({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4})",
         {"[1, 2]", "[1,2,3,4]", "[ 1,\n2 ]"},
         {"[]", "[1]", "[1,2,3,4,5]", "[1,\"a\"]", "[1,2"}});
  check(
      {R"({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "null"}, "minItems": 1})",
       {"[1]", "[1,\"a\"]", "[1,\"a\",null,null]"},
       {"[]", "[\"a\"]", "[1,2]", "[1,\"a\",1]"}});
  check({R"({"type": "array", "prefixItems": [true, false]})", {"[]", "[1]"}, {"[1,2]"}});
  check({R"({"type": "array", "prefixItems": [true, true], "items": false, "maxItems": 1})", {"[]", "[1]"}, {"[1,2]"}});
  check({R"({"type": "array", "contains": {"type": "integer"}, "minContains": 2})",
         {"[1,2]", "[\"a\",1,null,2,[]]"},
         {"[]", "[1,\"a\"]"}});
  check({R"({"type": "array", "items": {"type": "integer"}, "maxItems": 3000})", {"[]", "[1,2,3]"}, {"[1,,2]"}});
}

TEST(JsonSchema, Combinations) {
  check({R"({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 3}]})", {"\"a\"", "3"}, {"2", "null"}});
  check(
      {R"({"allOf": [{"properties": {"a": {"minimum": 1}}, "required": ["a"]}, {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}}]})",
       {R"({"a": 1, "b": null})"},
       {R"({"a": 0})", R"({"a": 1.5})", "{}", "1"}});
  check(
      {R"({"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
                       {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"], "additionalProperties": false}]})",
       {R"({"kind": "a", "x": 1})", R"({"kind": "b"})"},
       {R"({"kind": "a"})", R"({"kind": "b", "x": 1})", R"({"kind": "c"})"}});
  check(
      {R"({"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["next"], "additionalProperties": false})",
       {R"({"next": {"next": {"next": null}}})"},
       {R"({"next": 1})", R"({"next": {}})"}});
  check({R"({"$defs": {"a/b": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/a~1b"}})",
         {"[1]"},
         {"[\"1\"]"}});
  check({R"({"not": {"type": ["string", "object"]}})", {"1", "[]", "null"}, {"\"a\"", "{}"}});
}

// Of a schema and its opposite every value satisfies one.
TEST(JsonSchema, OppositesShareNothingAndLeaveNothing) {
  const std::vector<std::string_view> values{"null",
                                             "true",
                                             "false",
                                             "0",
                                             "3",
                                             "7",
                                             "2.5",
                                             "-4",
                                             R"("")",
                                             R"("a")",
                                             R"("ab")",
                                             R"("abcd")",
                                             R"("b")",
                                             "[]",
                                             "[1]",
                                             "[1,2]",
                                             R"(["a",1])",
                                             R"([[],[]])",
                                             "{}",
                                             R"({"a":1})",
                                             R"({"a":"x"})",
                                             R"({"b":1})",
                                             R"({"a":1,"b":null})",
                                             R"({"b":"x","c":[]})"};
  for (const char* schema :
       {"true",
        R"({"type": "null"})",
        R"({"type": ["string", "object"]})",
        R"({"minimum": 3})",
        R"({"exclusiveMinimum": 3})",
        R"({"maximum": 2.5, "minimum": 0})",
        R"({"minLength": 2})",
        R"({"maxLength": 1})",
        R"({"pattern": "^a"})",
        R"({"minLength": 1, "pattern": "b"})",
        R"({"minItems": 1})",
        R"({"maxItems": 1})",
        R"({"items": {"minimum": 2}})",
        R"({"items": false})",
        R"({"contains": {"minimum": 2}})",
        R"({"required": ["a", "b"]})",
        R"({"properties": {"a": {"minimum": 3}, "b": {"type": "null"}}})",
        R"({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})",
        R"({"maxProperties": 0})",
        R"({"enum": ["a", "abcd", null]})",
        R"({"enum": [3, 2.5, "b"]})",
        R"({"const": true})",
        R"({"enum": [true, false, 7]})",
        R"({"not": {"type": "string"}})",
        R"({"not": {"enum": ["a", 3]}})",
        R"({"anyOf": [{"minimum": 3}, {"maxLength": 1}]})",
        R"({"allOf": [{"minimum": 3}, {"maxLength": 1}]})",
        R"({"oneOf": [{"type": "string"}, {"type": "array"}]})",
        R"({"oneOf": [{"type": "number", "minimum": 3}, {"type": "number", "maximum": 2}]})",
        R"({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "array"}, {"pattern": "a"}]}}})"}) {
    const std::string text(schema);
    const std::size_t definitions = text.find(R"(, "$defs")");
    const bool has_definitions = definitions != std::string::npos;
    const std::string rest = has_definitions ? text.substr(definitions, text.size() - definitions - 1) : "";
    const auto plain = compile_json_schema(text);
    const auto opposite =
        compile_json_schema(R"({"not": )" + text.substr(0, definitions) + (has_definitions ? "}" : "") + rest + "}");
    const bool is_impossible = !opposite.ok() && opposite.error().text().find("some text") != std::string_view::npos;
    ASSERT_TRUE(plain.ok()) << schema << ": " << plain.error().text();
    ASSERT_TRUE(opposite.ok() || is_impossible) << schema << ": " << opposite.error().text();
    for (const std::string_view value : values) {
      const bool is_taken_by_opposite = opposite.ok() && takes(opposite.value(), value);
      EXPECT_NE(takes(plain.value(), value), is_taken_by_opposite) << schema << " " << value;
    }
  }
}

TEST(JsonSchema, ConditionsAndOneOfSeveral) {
  check(
      {R"({"type": "object", "properties": {"kind": {"enum": ["a", "b"]}, "size": {"type": "integer"}}, "required": ["kind"],
             "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required": ["size"]}, "else": {"maxProperties": 1}})",
       {R"({"kind": "a", "size": 1})", R"({"kind": "b"})"},
       {R"({"kind": "a"})", R"({"kind": "b", "size": 1})"}});
  check({R"({"if": {"type": "string"}, "else": {"type": "null"}})", {"\"a\"", "null"}, {"1"}});
  check({R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object", "properties": {"a": {}, "b": {}}})",
         {R"({"a": 1})", R"({"b": 1})"},
         {"{}", R"({"a": 1, "b": 1})"}});
  check({R"({"oneOf": [{"type": "string"}, {"minLength": 2}]})", {"\"a\"", "1", "null"}, {"\"ab\""}});
  check({R"({"oneOf": [{"pattern": "a"}, {"pattern": "b"}], "type": "string"})",
         {"\"a\"", "\"cb\""},
         {"\"ab\"", "\"c\""}});
  check({R"({"oneOf": [{"type": "number"}, {"maximum": 3}]})", {"4", "null"}, {"3", "-1.5"}});
}

TEST(JsonSchema, NothingIsPassedInSilence) {
  for (const auto& [schema, keyword, place] :
       {std::tuple(R"({"type": "array", "uniqueItems": true})", "uniqueItems", "''"),
        {R"({"properties": {"a": {"if": {"multipleOf": 3}, "then": {"minimum": 1}}}})", "multipleOf",
         "'/properties/a/if'"},
        {R"({"properties": {"a": {"items": {"frobnicate": 1}}}})", "frobnicate", "'/properties/a/items'"},
        {R"({"$ref": "http://example.com/x"})", "$ref", "''"},
        {R"({"$ref": "#/nowhere"})", "$ref", "''"},
        {R"({"$ref": "#"})", "$ref", "''"},
        {R"({"unevaluatedProperties": false})", "unevaluatedProperties", "''"},
        {R"({"not": {"type": "integer"}})", "type", "'/not'"},
        {R"({"not": {"format": "date"}})", "format", "'/not'"},
        {R"({"not": {"not": {"not": {"format": "date"}}}})", "format", "'/not/not/not'"},
        {R"({"oneOf": [{"type": "integer"}, {"multipleOf": 3}]})", "oneOf", "''"},
        {R"({"properties": {"a": {"type": "integer", "multipleOf": 4097}}})", "multipleOf", "'/properties/a'"},
        {R"({"items": {"enum": [1], "multipleOf": 1234567890123456789}})", "multipleOf", "'/items'"},
        {R"({"type": "string", "format": "klingon"})", "format", "''"},
        {R"-({"pattern": "a(?=b)"})-", "pattern", "''"},
        {R"({"$defs": {"a": {"$id": "x", "items": {"$ref": "#"}}}, "$ref": "#/$defs/a"})", "$id", "'/$defs/a'"},
        // Also where no value comes to: what is listed is no array, and no object.
        {R"({"enum": [1, 2], "items": {"frobnicate": 1}})", "frobnicate", "'/items'"},
        {R"({"const": "a", "properties": {"a": {"allOf": [{"frobnicate": 1}]}}})", "frobnicate",
         "'/properties/a/allOf/0'"},
        {R"({"type": "string", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"frobnicate": 1}}})", "frobnicate",
         "'/$defs/a'"},
        {R"({"name": {"type": "string"}})", "name", "''"},
        {R"({"version": [{"type": "string"}]})", "version", "''"},
        {R"({"$schema": "http://example.com/own"})", "$schema", "''"},
        {R"({"minProperties": 2})", "minProperties", "''"},
        {R"({"contains": {}, "maxContains": 2})", "maxContains", "''"},
        {R"({"type": "float"})", "type", "''"},
        {R"({"nullable": true})", "nullable", "''"},
        {R"({"$dynamicRef": "#x"})", "$dynamicRef", "''"}}) {
    const auto grammar = compile_json_schema(schema, {}, unhurried);
    ASSERT_FALSE(grammar.ok()) << schema;
    const std::string text(grammar.error().text());
    EXPECT_NE(text.find(std::string("'") + keyword + "'"), std::string::npos) << schema << ": " << text;
    EXPECT_NE(text.find(std::string(" at ") + place), std::string::npos) << schema << ": " << text;
  }
  EXPECT_FALSE(compile_json_schema("{").ok());
  EXPECT_FALSE(compile_json_schema("3").ok());
}

TEST(JsonSchema, RemarksAskNothing) {
  check({R"({"title": "t", "x-of": {"type": "null"}, "_type": "null", "name": "n", "version": 2, "example": {"a": 1},
             "self": {"vendor": "v"}, "aliases": ["a"], "id": "here", "type": "string"})",
         {"\"a\""},
         {"null"}});
  // As pydantic writes unions of classes.
  check({R"({"discriminator": {"mapping": {"cat": "#/$defs/Cat"}, "propertyName": "kind"},
             "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}], "$defs": {
             "Cat": {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"]},
             "Dog": {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]}}})",
         {R"({"kind":"cat","lives":9})", R"({"kind":"dog","lives":"x"})"},
         {R"({"kind":"cow"})", R"({"kind":"cat","lives":"x"})"}});
  // What nobody refers to is read by nobody.
  check({R"({"$defs": {"a": {"frobnicate": 1}}, "type": "null"})", {"null"}, {"1"}});
}

TEST(JsonSchema, WhatNothingSatisfiesIsAnError) {
  for (const char* schema :
       {"false", R"({"type": "string", "minLength": 2, "maxLength": 1})", R"({"type": "integer", "enum": ["a"]})",
        R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})",
        R"({"type": "object", "required": ["a"], "additionalProperties": false})"}) {
    const auto grammar = compile_json_schema(schema, {}, unhurried);
    ASSERT_FALSE(grammar.ok()) << schema;
    EXPECT_NE(grammar.error().text().find("some text satisfies"), std::string_view::npos) << grammar.error().text();
  }
}

// What any part of a schema declares counts; and nothing is valid that was not before.
TEST(JsonSchema, ClosedObjectsHaveDeclaredPropertiesAlone) {
  for (const SchemaCase& one : std::vector<SchemaCase>{
           {R"({"properties": {"a": {"properties": {}}}})",
            {"{}", R"({"a":{}})", "1"},
            {R"({"b":1})", R"({"a":{"b":1}})"}},
           {R"({"type": "object"})", {R"({"b":1})"}, {"1"}},
           {R"({"properties": {"a": true}, "additionalProperties": true})", {R"({"a":1,"b":1})"}, {"[}"}},
           {R"({"properties": {"a": true}, "patternProperties": {"^x": {}}})", {R"({"a":1,"xb":1})"}, {"[}"}},
           {R"({"allOf": [{"properties": {"a": true}}, {"properties": {"b": true}}]})",
            {R"({"a":1,"b":1})"},
            {R"({"a":1,"c":1})"}},
           {R"({"properties": {"a": true}, "$ref": "#/$defs/b", "$defs": {"b": {"properties": {"b": true}}}})",
            {R"({"a":1,"b":1})"},
            {R"({"c":1})"}},
           {R"({"properties": {"a": true}, "required": ["b"]})", {R"({"a":1,"b":1})"}, {R"({"b":1,"c":1})"}},
           {R"({"properties": {"a": true}, "minProperties": 1})", {R"({"a":1})"}, {"{}", R"({"c":1})"}},
           {R"({"properties": {}, "minProperties": 1})", {R"({"c":1})"}, {"{}"}},
           // Of two that both hold at once neither is meant.
           {R"({"type": "object", "oneOf": [{"properties": {"a": {"type": "null"}}},
               {"properties": {"b": {"type": "null"}}}]})",
            {R"({"a":null,"b":1})", R"({"b":null,"a":1})"},
            {"{}", R"({"a":null})", R"({"b":null})", R"({"a":null,"b":null})"}}}) {
    const auto closed = compile_json_schema(one.schema, {.closes_objects = true}, unhurried);
    const auto open = compile_json_schema(one.schema, {}, unhurried);
    ASSERT_TRUE(closed.ok() && open.ok()) << one.schema;
    for (const std::string_view text : one.taken) {
      EXPECT_TRUE(takes(closed.value(), text) && takes(open.value(), text)) << one.schema << " " << text;
    }
    for (const std::string_view text : one.refused) EXPECT_FALSE(takes(closed.value(), text)) << one.schema << text;
  }
}

TEST(JsonSchema, LargeBoundsTakeNoMoreRoomThanSmallOnes) {
  const auto small =
      compile_json_schema(R"({"type": "array", "items": {"type": "string", "maxLength": 10}, "maxItems": 10})");
  const auto large = compile_json_schema(
      R"({"type": "array", "items": {"type": "string", "maxLength": 1000000}, "maxItems": 1000000})");
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_EQ(small.value()->size_in_bytes(), large.value()->size_in_bytes());
}

// What is large and not hostile must not fail where a machine is busy.

}  // namespace
}  // namespace ingot::grammar
