#include "model/calls/parameter_kind.h"

#include <gtest/gtest.h>

#include "model/chat/value_json.h"

namespace ingot::calls {
namespace {

ParameterKind kind_of_p(std::string_view schema) {
  return ParameterKinds(chat::value_from_json(schema).value()).of("p");
}

TEST(ParameterKinds, AreWhatAllKeywordsOfAParameterHaveInCommon) {
  using enum ParameterKind;
  const std::pair<std::string_view, ParameterKind> schemas[] = {
      {"{}", unknown},
      {"true", unknown},
      {R"({"properties": {"q": {"type": "string"}}})", unknown},
      {R"({"properties": {"p": {}}})", unknown},
      {R"({"properties": {"p": {"type": "string"}}})", text},
      {R"({"properties": {"p": {"type": ["string", "null"]}}})", text_or_null},
      {R"({"properties": {"p": {"type": ["string", "integer"]}}})", unknown},
      {R"({"properties": {"p": {"type": "null"}}})", other},
      {R"({"properties": {"p": {"enum": ["a", 1]}}})", unknown},
      {R"({"properties": {"p": {"enum": [1, 2]}}})", other},
      {R"({"properties": {"p": {"enum": ["a", 1], "type": "string"}}})", text},
      {R"({"properties": {"p": {"const": "a"}}})", text},
      {R"({"properties": {"p": {"anyOf": [{"type": "string"}, {"const": null}]}}})", text_or_null},
      {R"({"properties": {"p": {"oneOf": [{"type": "array"}, {"type": "object"}]}}})", other},
      {R"({"properties": {"p": {"allOf": [{"type": ["string", "integer"]}, {"enum": ["a", null]}]}}})", text},
      {R"({"properties": {"p": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": "string"}}})", text},
      {R"({"properties": {"p": {"$ref": "#/properties/p"}}})", unknown},
      {R"({"allOf": [{"properties": {"p": {"type": ["string", "null"]}}}, {"properties": {"p": {"enum": ["a"]}}}]})",
       text},
      {R"({"$ref": "#/$defs/d", "$defs": {"d": {"properties": {"p": {"type": "number"}}}}})", other},
      {R"({"allOf": [{"$ref": "#"}], "properties": {"p": {"type": "string"}}})", text},
  };
  for (const auto& [schema, kind] : schemas) EXPECT_EQ(kind_of_p(schema), kind) << schema;
}

// Of what comes behind the bound nothing is known, which is always true.
TEST(ParameterKinds, AreLookedForInABoundedPartOfASchema) {
  std::string many = R"({"properties": {"first": {"type": "string"})";
  for (int number = 0; number < 200'000; ++number) many += ",\"n" + std::to_string(number) + R"(": {})";
  const ParameterKinds kinds(chat::value_from_json(many + R"(, "last": {"type": "string"}}})").value());
  EXPECT_EQ(kinds.of("last"), ParameterKind::unknown);
  std::string several = R"({"properties": {"first": {"type": "string"})";
  for (int number = 0; number < 4000; ++number) several += ",\"n" + std::to_string(number) + R"(": {})";
  const ParameterKinds all(chat::value_from_json(several + R"(, "last": {"type": "string"}}})").value());
  EXPECT_EQ(all.of("first"), ParameterKind::text);
  EXPECT_EQ(all.of("last"), ParameterKind::text);
}

}  // namespace
}  // namespace ingot::calls
