// Schemas that are large, contradict themselves, or are meant to do harm.
#include "model/grammar/json_schema.h"

#include <gtest/gtest.h>

#include "model/grammar/schema_cases.h"

namespace ingot::grammar {
namespace {

TEST(JsonSchema, ManyNamesAndValuesAreTaken) {
  std::string properties, values;
  for (int index = 0; index < 3000; ++index) {
    properties += (index > 0 ? ", \"" : "\"") + std::to_string(index) + "\": {\"type\": \"null\"}";
  }
  for (int index = 0; index < 20000; ++index) values += (index > 0 ? ", \"v" : "\"v") + std::to_string(index) + "\"";
  auto object = compile_json_schema(
      "{\"type\": \"object\", \"properties\": {" + properties + "}, \"additionalProperties\": false}", {}, unhurried);
  ASSERT_TRUE(object.ok()) << object.error().text();
  EXPECT_TRUE(takes(object.value(), R"({"0": null, "1500": null, "2999": null})"));
  EXPECT_FALSE(takes(object.value(), R"({"1500": null, "0": null})"));
  auto listed = compile_json_schema("{\"items\": {\"enum\": [" + values + "]}}", {}, unhurried);
  ASSERT_TRUE(listed.ok()) << listed.error().text();
  EXPECT_TRUE(takes(listed.value(), R"(["v0", "v19999"])"));
  EXPECT_FALSE(begins(listed.value(), R"(["v20000)"));
}

// An error that names the keyword.
void expect_refused(const std::string& schema, std::string_view keyword, const CompileLimits& limits = {}) {
  const auto grammar = compile_json_schema(schema, {}, limits);
  ASSERT_FALSE(grammar.ok()) << schema.substr(0, 200);
  const std::string text(grammar.error().text());
  EXPECT_NE(text.find("'" + std::string(keyword) + "'"), std::string::npos) << schema.substr(0, 200) << ": " << text;
}

std::string names_up_to(int count) {
  std::string names;
  for (int index = 0; index < count; ++index) names += (index > 0 ? ",\"n" : "\"n") + std::to_string(index) + "\"";
  return names;
}

TEST(JsonSchema, ListedValuesMayBeOfASchemaThatHoldsItself) {
  check({R"({"const": [], "type": "array", "items": {"$ref": "#"}})", {"[]", "[ ]"}, {"[[]]", "0"}});
  check({R"({"enum": [[], [[]], [1]], "type": "array", "items": {"type": "array", "items": {"$ref": "#"}}})",
         {"[]", "[[]]"},
         {"[1]"}});
}

// Listed values are compared as values: neither the order of their names nor how a number is spelled counts.
TEST(JsonSchema, ListedValuesAreHeldAgainstWhatStandsBesideThem) {
  check({R"({"enum": [{"b": 1, "a": "x"}, {"b": 1, "a": 2}, {"b": 1}, {"a": "x", "c": 0}], "type": "object",
             "properties": {"a": {"type": "string"}, "b": {"minimum": 1}}, "required": ["a"],
             "additionalProperties": false})",
         {R"({"b": 1, "a": "x"})"},
         {R"({"b": 1, "a": 2})", R"({"b": 1})", R"({"a": "x", "c": 0})"}});
  check({R"({"enum": [1e20, 1.5, 2.0, 2e-3], "type": "integer"})", {"1e+20", "2"}, {"1.5", "0.002"}});
  check({R"({"enum": [1e-7, 3e-7, 0.25, 12, -7], "multipleOf": 1e-7, "maximum": 12, "exclusiveMinimum": -7})",
         {"1e-07", "3e-07", "0.25", "12"},
         {"-7"}});
  check({R"({"enum": [0.5, 0.75, 1e19, -1.25, 0.3, 0], "multipleOf": 0.25})",
         {"0.5", "0.75", "1e+19", "-1.25", "0"},
         {"0.3"}});
  check({R"({"enum": ["ab", "\u20ac", "b", "2024-02-30"], "minLength": 1, "maxLength": 1, "pattern": "^[^a]"})",
         {"\"b\"", "\"\xE2\x82\xAC\""},
         {"\"ab\"", "\"2024-02-30\""}});
  check(
      {R"({"enum": ["2024-02-30", "2024-02-29", 3], "format": "date"})", {"\"2024-02-29\"", "3"}, {"\"2024-02-30\""}});
  check({R"({"enum": [[1, "a"], [1], [1, 2], [], [1, "a", "b"]], "prefixItems": [{"type": "integer"}],
             "items": {"type": "string"}, "minItems": 1, "maxItems": 2})",
         {"[1, \"a\"]", "[1]"},
         {"[1,2]", "[]", "[1,\"a\",\"b\"]"}});
  check({R"({"enum": [[1, "a", 2], [1, "a"]], "contains": {"type": "integer"}, "minContains": 2})",
         {"[1,\"a\",2]"},
         {"[1,\"a\"]"}});
  check(
      {R"({"enum": [{"xa": 1}, {"xb": "t"}, {"y": 1, "xc": 1}, {"long": 1}, {}], "patternProperties": {"^x": {"type": "integer"}},
             "propertyNames": {"maxLength": 2}, "minProperties": 1, "maxProperties": 1})",
       {R"({"xa": 1})"},
       {R"({"xb": "t"})", R"({"y": 1, "xc": 1})", R"({"long": 1})", "{}"}});
  check({R"({"enum": [{"a": 1}, {"a": 1, "b": 2}, {"b": 2}], "dependentRequired": {"a": ["b"]}})",
         {R"({"a": 1, "b": 2})", R"({"b": 2})"},
         {R"({"a": 1})"}});
  check({R"({"enum": [1, 2, "a"], "anyOf": [{"type": "string"}, {"minimum": 2}]})", {"2", "\"a\""}, {"1"}});
}

TEST(JsonSchema, MoreNamesThanAreTakenAreRefused) {
  expect_refused(R"({"type": "object", "required": [)" + names_up_to(4001) + "]}", "required");
  expect_refused(R"({"type": "object", "required": [)" + names_up_to(100'000) + "]}", "required", unhurried);
  std::string properties, others;
  for (int index = 0; index < 100'000; ++index) {
    properties += (index > 0 ? ",\"n" : "\"n") + std::to_string(index) + "\":true";
  }
  for (int index = 0; index < 3000; ++index) others += (index > 0 ? ",\"o" : "\"o") + std::to_string(index) + "\":true";
  expect_refused(R"({"type": "object", "properties": {)" + properties + "}}", "properties", unhurried);
  expect_refused(R"({"type": "object", "required": [)" + names_up_to(3000) + R"(], "properties": {)" + others + "}}",
                 "properties", unhurried);
}

TEST(JsonSchema, LongListsAreComparedInOneGo) {
  const std::string values = names_up_to(20'000);
  auto both = compile_json_schema(R"({"allOf": [{"enum": [)" + values + R"(]}, {"enum": [)" + values + R"(, 1]}]})", {},
                                  unhurried);
  ASSERT_TRUE(both.ok()) << both.error().text();
  EXPECT_TRUE(takes(both.value(), "\"n19999\""));
  EXPECT_FALSE(takes(both.value(), "1"));
  auto one =
      compile_json_schema(R"({"oneOf": [{"enum": [)" + values + R"(]}, {"enum": ["x", "n19999"]}]})", {}, unhurried);
  ASSERT_TRUE(one.ok()) << one.error().text();
  EXPECT_TRUE(takes(one.value(), "\"n19998\""));
  EXPECT_TRUE(takes(one.value(), "\"x\""));
  EXPECT_FALSE(takes(one.value(), "\"n19999\""));
}

// Places are told in errors; each would take the memory of all names above it.
TEST(JsonSchema, PlacesBelowALongNameTakeItsMemoryOnce) {
  const std::string name(20'000, 'n');
  std::string properties;
  for (int index = 0; index < 2000; ++index) {
    properties += (index > 0 ? ",\"n" : "\"n") + std::to_string(index) + "\":{\"type\":\"null\"}";
  }
  const auto below = [&](const std::string& more) {
    return R"({"type": "object", "additionalProperties": false, "properties": {")" + name +
           R"(": {"type": "object", "additionalProperties": false, "properties": {)" + properties + more + "}}}}";
  };
  const auto grammar = compile_json_schema(below(""), {}, unhurried);
  ASSERT_TRUE(grammar.ok()) << grammar.error().text();
  EXPECT_TRUE(takes(grammar.value(), R"({")" + name + R"(": {"n1999": null}})"));
  expect_refused(below(R"(, "a/b": {"uniqueItems": true})"), "uniqueItems", unhurried);
  // As names that are copied for every alternative count with their length.
  std::string alternatives;
  for (int index = 0; index < 200; ++index) {
    alternatives += std::string(index > 0 ? "," : "") + R"({"maximum": )" + std::to_string(index) + "}";
  }
  const auto copied = compile_json_schema(
      R"({"required": [")" + std::string(200'000, 'n') + R"("], "anyOf": [)" + alternatives + "]}", {}, unhurried);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code(), ErrorCode::out_of_memory) << copied.error().text();
}

TEST(JsonSchema, LongChainsOfReferencesAreRefused) {
  std::string definitions;
  for (int index = 0; index < 2000; ++index) {
    definitions += "\"" + std::to_string(index) + R"(": {"$ref": "#/$defs/)" + std::to_string(index + 1) + "\"},";
  }
  expect_refused(R"({"$ref": "#/$defs/0", "$defs": {)" + definitions + R"("2000": true}})", "$ref", unhurried);
  check({R"({"$ref": "#/$defs/1970", "$defs": {)" + definitions + R"("2000": {"type": "null"}}})", {"null"}, {"0"}});
}

TEST(JsonSchema, AnchorsAreFoundWhereNamesLookEscaped) {
  check({R"({"$defs": {"%41": {"$anchor": "x", "type": "string"}, "A": {"type": "integer"}}, "$ref": "#x"})",
         {"\"a\""},
         {"1"}});
  check(
      {R"({"$defs": {"%41": {"type": "string"}, "A": {"type": "integer"}}, "$ref": "#/$defs/%41"})", {"1"}, {"\"a\""}});
  check({R"({"$defs": {"%41": {"type": "string"}, "A": {"type": "integer"}}, "$ref": "#/$defs/%2541"})",
         {"\"a\""},
         {"1"}});
}

TEST(JsonSchema, ValuesHaveNoAnchors) {
  for (const char* holder : {R"("enum": [{"$anchor": "x"}])", R"("const": {"a": {"$anchor": "x"}})",
                             R"("default": {"$anchor": "x"})", R"("examples": [[{"$anchor": "x"}]])"}) {
    const std::string other = R"({"$defs": {"a": {"$anchor": "x", "type": "null"}, "b": {)" + std::string(holder);
    check({other + R"(}}, "$ref": "#x"})", {"null"}, {"1"}});
    expect_refused(R"({"$defs": {"b": {)" + std::string(holder) + R"(}}, "$ref": "#x"})", "$ref");
  }
  // A property may have any name.
  check({R"({"properties": {"enum": {"$anchor": "x", "type": "null"}}, "items": {"$ref": "#x"}, "type": "array"})",
         {"[null]"},
         {"[1]"}});
}

TEST(JsonSchema, OneNumberHasOneSpelling) {
  check({R"({"oneOf": [{"const": 1e18}, {"enum": [1000000000000000000, 2]}]})", {"2"}, {"1000000000000000000"}});
  check({R"({"oneOf": [{"const": [-4e18]}, {"enum": [[-4000000000000000000], [1]]}]})",
         {"[1]"},
         {"[-4000000000000000000]"}});
  check({R"({"allOf": [{"enum": [4e18, 1e19, 3]}, {"enum": [4000000000000000000, 10e18]}]})",
         {"4000000000000000000", "1e+19"},
         {"3"}});
}

TEST(JsonSchema, NumbersThatADoubleDoesNotHoldAreRefused) {
  expect_refused(R"({"type": "integer", "maximum": 18446744073709551615.0})", "maximum");
  expect_refused(R"({"type": "number", "minimum": 0.30000000000000001})", "minimum");
  expect_refused(R"({"enum": [1, [0.1000000000000000055]]})", "enum");
  expect_refused(R"({"type": "number", "minimum": 1e-400})", "minimum");
  check({R"({"type": "number", "minimum": 0.30, "maximum": 1.25e1})", {"0.3", "12.5"}, {"0.29999", "12.500001"}});
  check({R"({"type": "integer", "maximum": 1e20})", {"100000000000000000000"}, {"100000000000000000001"}});
}

TEST(JsonSchema, KeywordsAreThoseOfTheDialect) {
  const auto schema = [](std::string_view dialect, std::string_view rest) {
    return R"({"$schema": "http)" + std::string(dialect) + R"(", )" + std::string(rest) + "}";
  };
  constexpr std::string_view draft4 = "://json-schema.org/draft-04/schema#";
  constexpr std::string_view draft6 = "://json-schema.org/draft-06/schema#";
  constexpr std::string_view draft7 = "://json-schema.org/draft-07/schema#";
  constexpr std::string_view draft2019 = "s://json-schema.org/draft/2019-09/schema";
  constexpr std::string_view draft2020 = "s://json-schema.org/draft/2020-12/schema";
  for (const std::string_view word : {"const", "contains", "propertyNames", "if"}) {
    expect_refused(schema(draft4, '"' + std::string(word) + R"(": {})"), word);
  }
  expect_refused(schema(draft6, R"("if": {}, "then": {})"), "if");
  expect_refused(schema(draft4, R"("exclusiveMinimum": 3)"), "exclusiveMinimum");
  expect_refused(schema(draft6, R"("minimum": 3, "exclusiveMinimum": true)"), "exclusiveMinimum");
  check({schema(draft4, R"("type": "integer", "minimum": 3, "exclusiveMinimum": true, "maximum": 9)"),
         {"4", "9"},
         {"3", "10"}});
  check({schema(draft4, R"("type": "integer", "minimum": 3, "exclusiveMinimum": false, "exclusiveMaximum": true)"),
         {"3", "99"},
         {"2"}});
  check({schema(draft4, R"("id": "http://a/b#", "items": {"id": "c", "type": "null"}, "type": "array")"),
         {"[null]"},
         {"[1]"}});
  expect_refused(schema(draft4, R"("items": {"id": "c", "items": {"$ref": "#"}})"), "id");
  for (const auto dialect : {draft4, draft6, draft7, draft2019}) {
    expect_refused(schema(dialect, R"("prefixItems": [{"type": "null"}], "items": {"type": "string"})"), "prefixItems");
  }
  for (const auto dialect : {draft6, draft7}) {
    expect_refused(schema(dialect, R"("contains": {"type": "null"}, "minContains": 2)"), "minContains");
    expect_refused(schema(dialect, R"("contains": {"type": "null"}, "minContains": 0)"), "minContains");
    expect_refused(schema(dialect, R"("dependentRequired": {"a": ["b"]})"), "dependentRequired");
    expect_refused(schema(dialect, R"("dependentSchemas": {"a": false})"), "dependentSchemas");
    expect_refused(schema(dialect, R"("$ref": "#x", "definitions": {"a": {"$anchor": "x"}})"), "$anchor");
    expect_refused(schema(dialect, R"("$ref": "#/definitions/a", "maxLength": 2, "definitions": {"a": true})"), "$ref");
    expect_refused(
        schema(dialect, R"("items": {"$ref": "#/definitions/a", "items": false}, "definitions": {"a": true})"), "$ref");
    check({schema(dialect, R"("$ref": "#/definitions/a", "title": "t", "definitions": {"a": {"type": "null"}})"),
           {"null"},
           {"1"}});
  }
  check({schema(draft7, R"("type": "array", "items": [{"type": "null"}], "additionalItems": false)"),
         {"[]", "[null]"},
         {"[1]", "[null,null]"}});
  check({schema(draft2019, R"("contains": {"type": "null"}, "minContains": 2, "type": "array")"),
         {"[null,null]"},
         {"[null]"}});
  check({schema(draft2019, R"("$ref": "#/$defs/a", "maxLength": 2, "$defs": {"a": {"type": "string"}})"),
         {"\"ab\""},
         {"\"abc\"", "1"}});
  check({schema(draft2020, R"("prefixItems": [{"type": "null"}], "type": "array")"), {"[null, 1]"}, {"[1]"}});
}

// Each would take years or gigabytes if it were done to its end.
TEST(JsonSchema, HostileSchemasEndWithAnError) {
  std::string alternatives;
  for (int index = 0; index < 20; ++index) {
    alternatives += std::string(index > 0 ? ", " : "") + R"({"anyOf": [{"minLength": 1}, {"maxLength": 9}]})";
  }
  for (const std::string& schema : {std::string(R"-({"pattern": "^(a|b)*a(a|b){30}$", "minLength": 3})-"),
                                    std::string(R"-({"pattern": "^a*$", "minLength": 900000000})-"),
                                    "{\"allOf\": [" + alternatives + "]}", std::string(200, '[')}) {
    const auto grammar = compile_json_schema(schema);
    ASSERT_FALSE(grammar.ok()) << schema;
    EXPECT_FALSE(grammar.error().text().empty());
  }
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int index = 0; index < count; ++index) result += text;
  return result;
}

// What a few bytes ask for is refused by its size, however much time there is.
TEST(JsonSchema, WhatTakesTooMuchMemoryIsRefusedForThat) {
  std::string arrays, texts;
  for (int index = 0; index < 100'000; ++index) {
    arrays += (index > 0 ? ",[" : "[") + std::to_string(index) + "]";
    texts += (index > 0 ? ",\"aaaaaaaaaaaaaaaaaaaa" : "\"aaaaaaaaaaaaaaaaaaaa") + std::to_string(index * 7919L) + "\"";
  }
  for (const std::string& schema :
       {std::string(R"({"type": "number", "minimum": -1e308, "maximum": 1e308, "multipleOf": 4093})"),
        std::string(R"({"type": "string", "format": "email", "maxLength": 254})"),
        std::string(R"({"type": "string", "not": {"pattern": "^(a|b)*a(a|b){14}$"}})"),
        R"({"const": ")" + std::string(3'000'000, 'a') + R"("})", R"({"enum": [)" + arrays + "]}",
        R"({"enum": [)" + texts + "]}"}) {
    const auto grammar = compile_json_schema(schema, {}, unhurried);
    ASSERT_FALSE(grammar.ok()) << schema.substr(0, 100);
    EXPECT_EQ(grammar.error().code(), ErrorCode::out_of_memory) << grammar.error().text();
  }
}

TEST(JsonSchema, LongListsOfWordsAreEnforcedToTheLastOne) {
  std::string first, second;
  for (int index = 0; index < 100'000; ++index) first += (index > 0 ? ",\"v" : "\"v") + std::to_string(index) + "\"";
  const auto words = compile_json_schema(R"({"enum": [)" + first + "]}", {}, unhurried);
  ASSERT_TRUE(words.ok()) << words.error().text();
  EXPECT_TRUE(takes(words.value(), "\"v99999\""));
  EXPECT_FALSE(begins(words.value(), "\"v100000"));
  first.clear();
  for (int index = 0; index < 50'000; ++index) {
    first += (index > 0 ? "," : "") + std::to_string(index);
    second += (index > 0 ? "," : "") + std::to_string(index + 25'000);
  }
  const auto one =
      compile_json_schema(R"({"oneOf": [{"enum": [)" + first + R"(]}, {"enum": [)" + second + "]}]}", {}, unhurried);
  ASSERT_TRUE(one.ok()) << one.error().text();
  EXPECT_TRUE(takes(one.value(), "24999"));
  EXPECT_TRUE(takes(one.value(), "50000"));
  EXPECT_FALSE(takes(one.value(), "25000"));
  EXPECT_FALSE(takes(one.value(), "49999"));
}

TEST(JsonSchema, CountsInsideOfCountsAreNotWrittenOut) {
  const auto text = [](int count) { return '"' + std::string(static_cast<std::size_t>(count), 'a') + '"'; };
  // Farther in it is so ambiguous that bytes are refused: narrower, never wider.
  const std::string ambiguous = text(10), longest = text(9 * 9 * 9), too_long = text(9 * 9 * 9 + 1);
  check({R"-({"type": "string", "pattern": "^((((a{1,100}){1,100}){1,100}){1,100})$"})-",
         {"\"a\"", ambiguous},
         {"\"\"", "\"b\"", "\"ab\""}});
  check({R"-({"type": "string", "pattern": "^((a{0,9}){0,9}){0,9}$"})-", {"\"\"", longest}, {too_long}});
  check({R"-({"type": "string", "pattern": "^)-" + std::string(60, '(') + "a?" + repeated(")*", 60) + "$\"}",
         {"\"\"", "\"aaa\""},
         {"\"b\""}});
  expect_refused(R"({"type": "string", "pattern": "^a{99999999999999999999}$"})", "pattern");
  check({R"({"type": "array", "minItems": 1000000000, "items": {"type": "array", "minItems": 1000000000}})",
         {},
         {"[]", "[[]]"}});
}

TEST(JsonSchema, ReferencesToTheSameValueAreRefusedBehindWhateverKeyword) {
  for (const char* schema :
       {R"({"not": {"$ref": "#"}})", R"({"not": {"not": {"$ref": "#"}}})",
        R"({"if": {"$ref": "#"}, "then": {"type": "null"}})", R"({"if": {"type": "null"}, "then": {"$ref": "#"}})",
        R"({"if": {"type": "null"}, "else": {"$ref": "#"}})", R"({"oneOf": [{"$ref": "#"}, {"type": "null"}]})",
        R"({"dependentSchemas": {"a": {"$ref": "#"}}})", R"({"allOf": [{"$ref": "#"}]})",
        R"({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"})",
        R"({"$defs": {"a": {"if": {"$ref": "#/$defs/b"}, "then": false},
                      "b": {"if": {"$ref": "#/$defs/a"}, "then": false}}, "$ref": "#/$defs/a"})"}) {
    expect_refused(schema, "$ref");
  }
  for (const char* place : {"#/allOf/00", "#/allOf/-", "#/allOf/1", "#/allOf/99999999999999999999", "#/~2", "#/%zz"}) {
    expect_refused(R"({"allOf": [{"type": "array"}], "items": {"$ref": ")" + std::string(place) + R"("}})", "$ref");
  }
}

// What satisfies it at one depth does not at the next.
TEST(JsonSchema, RecursionGoesThroughNegation) {
  check({R"({"type": "object", "properties": {"a": {"not": {"$ref": "#"}}}, "required": ["a"]})",
         {R"({"a": 1})", R"({"a": {}})", R"({"a": {"a": {"a": 1}}})"},
         {"1", "{}", R"({"a": {"a": 1}})", R"({"a": {"a": {"a": {"a": 1}}}})"}});
  check({R"({"type": "array", "items": {"not": {"$ref": "#"}}, "minItems": 1})",
         {"[1]", "[[]]", "[[[1]]]"},
         {"[]", "[[1]]", "[1, [1]]"}});
  check({R"({"contains": {"not": {"$ref": "#"}}})", {"[[]]", "1"}, {"[]", "[1]", "[[[]]]"}});
  check({repeated(R"({"not": )", 90) + R"({"type": "null"})" + repeated("}", 90), {"null"}, {"1"}});
  check({repeated(R"({"not": )", 91) + R"({"type": "null"})" + repeated("}", 91), {"1"}, {"null"}});
  for (const char* schema : {R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})",
                             R"({"type": "array", "items": {"$ref": "#"}, "minItems": 1})"}) {
    EXPECT_FALSE(compile_json_schema(schema).ok()) << schema << " has no value that ends";
  }
}

TEST(JsonSchema, HalvesOfCharactersAreNoTexts) {
  for (const char* schema :
       {R"({"enum": ["\ud800"]})", R"({"const": "\udc00\ud800"})", R"({"type": "string", "pattern": "\ud83d"})",
        R"({"type": "object", "required": ["\udfff"]})", R"({"type": "object", "properties": {"\ud800": true}})",
        R"({"type": "string", "pattern": "^\\ud83d$"})", R"({"type": "string", "pattern": "^[\\ud800-\\udfff]+$"})"}) {
    EXPECT_FALSE(compile_json_schema(schema).ok()) << schema;
  }
  check({R"({"const": "\ud83d\ude00"})", {"\"\xF0\x9F\x98\x80\""}, {R"("\ud83d")", "\"\""}});
  check({R"({"type": "string", "pattern": "^\\ud83d\\ude00$"})", {"\"\xF0\x9F\x98\x80\""}, {R"("\ud83d")"}});
  check({R"({"type": "string", "maxLength": 1})",
         {"\"\xF0\x9F\x98\x80\"", R"("\ud83d\ude00")"},
         {R"("\ud83d")", R"("\ude00")", R"("\ude00\ud83d")", "\"\xED\xA0\x80\""}});
  check({R"({"const": "a\u0000b"})", {R"("a\u0000b")"}, {"\"ab\"", "\"a\""}});
}

TEST(JsonSchema, NumbersBeyondADoubleAreRefusedAndTheLargestIsNot) {
  for (const char* number : {"1e400", "-1e400", "1e99999999999", "NaN", "Infinity"}) {
    for (const char* keyword : {"minimum", "exclusiveMaximum", "multipleOf", "const", "minLength", "maxItems"}) {
      EXPECT_FALSE(compile_json_schema(R"({")" + std::string(keyword) + "\": " + number + "}").ok())
          << keyword << number;
    }
  }
  const std::string least = "1" + std::string(308, '0'), below = std::string(308, '9'), above = "9" + below;
  check({R"({"type": "integer", "minimum": 1e308})", {least, above}, {below, "1", "-" + above}});
  check({R"({"type": "number", "minimum": -0.0})", {"0", "0.5"}, {"-0.5", "-1"}});
}

TEST(JsonSchema, KeysAreForced) {
  auto grammar = compile_json_schema(
      R"({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false})",
      {.most_white_space = 0});
  ASSERT_TRUE(grammar.ok());
  GrammarState state(grammar.value());
  EXPECT_EQ(state.forced_bytes(), "{\"name\":\"");
  ASSERT_TRUE(state.accept("{\"name\":\"x\""));
  EXPECT_EQ(state.forced_bytes(), "}");
}

}  // namespace
}  // namespace ingot::grammar
