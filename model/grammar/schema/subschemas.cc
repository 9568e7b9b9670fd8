#include "model/grammar/schema/subschemas.h"

#include <algorithm>
#include <array>

#include "model/chat/dictionary.h"

namespace ingot::grammar {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 11> single_schemas{
    "additionalItems",  "additionalProperties", "contains", "else", "if", "items", "not", "then", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties"};
constexpr std::array<std::string_view, 5> schema_lists{"allOf", "anyOf", "items", "oneOf", "prefixItems"};
constexpr std::array<std::string_view, 4> named_schemas{"dependencies", "dependentSchemas", "patternProperties",
                                                        "properties"};
constexpr std::array<std::string_view, 2> definition_words{"$defs", "definitions"};

constexpr std::array<std::string_view, 14> annotations{
    "$anchor", "$comment",    "$defs",      "contentEncoding", "contentMediaType", "contentSchema", "default",
    "title",   "definitions", "deprecated", "description",     "examples",         "readOnly",      "writeOnly"};
// Of hyper-schema, OpenAPI, Snowplow, VS Code, json-editor, jsonschema2pojo and their kind.
constexpr std::array<std::string_view, 20> other_remarks{"$async",
                                                         "$default",
                                                         "defaultSnippets",
                                                         "discriminator",
                                                         "enumDescriptions",
                                                         "enumNames",
                                                         "errorMessage",
                                                         "example",
                                                         "externalDocs",
                                                         "javaInterfaces",
                                                         "headerTemplate",
                                                         "links",
                                                         "markdownEnumDescriptions",
                                                         "media",
                                                         "pbj",
                                                         "preferredOrder",
                                                         "propertiesOrder",
                                                         "propertyOrder",
                                                         "self",
                                                         "xml"};
// Words that somebody might also have meant as the name of a property and forgotten to put into 'properties': remarks
// where no schema could be meant.
constexpr std::array<std::string_view, 33> plain_remarks{"$$target",
                                                         "$license",
                                                         "$note",
                                                         "@context",
                                                         "@type",
                                                         "alias",
                                                         "aliases",
                                                         "author",
                                                         "axRole",
                                                         "category",
                                                         "comment",
                                                         "copyright",
                                                         "deprecationMessage",
                                                         "extendsJavaClass",
                                                         "form",
                                                         "hidden",
                                                         "id",
                                                         "immutable",
                                                         "javaName",
                                                         "javaType",
                                                         "license",
                                                         "longDescription",
                                                         "long-description",
                                                         "markdownDescription",
                                                         "name",
                                                         "plural_title",
                                                         "readonly",
                                                         "searchable",
                                                         "sortIndex",
                                                         "stability",
                                                         "version",
                                                         "visible",
                                                         "tsType"};

bool may_be_schema(const Value& value) {
  if (value.is_list()) return std::ranges::any_of(value.items(), may_be_schema);
  return value.is(Kind::dictionary);
}

}  // namespace

void visit_subschemas(const SchemaPlace& schema, Definitions definitions,
                      const std::function<void(std::string_view keyword, const SchemaPlace& below)>& visit) {
  if (!schema.value->is(Kind::dictionary)) return;
  for (const auto& entry : schema.value->as_dictionary().entries()) {
    const std::string& keyword = entry.key.bytes();
    const Value& value = entry.value;
    if (value.is_list() && is_among(schema_lists, keyword)) {
      for (std::size_t index = 0; index < value.items().size(); ++index) {
        visit(keyword, schema.below(keyword, std::to_string(index), value.items()[index]));
      }
      continue;
    }
    if (!value.is(Kind::dictionary)) continue;
    const bool is_definition = definitions == Definitions::visited && is_among(definition_words, keyword);
    if (is_definition || is_among(named_schemas, keyword)) {
      for (const auto& named : value.as_dictionary().entries()) {
        visit(keyword, schema.below(keyword, named.key.bytes(), named.value));
      }
    } else if (is_among(single_schemas, keyword)) {
      visit(keyword, schema.below(keyword, value));
    }
  }
}

bool is_remark(std::string_view keyword, const Value& value) {
  if (keyword.starts_with("x-") || keyword.starts_with("_")) return true;
  if (is_among(annotations, keyword) || is_among(other_remarks, keyword)) return true;
  return is_among(plain_remarks, keyword) && !may_be_schema(value);
}

}  // namespace ingot::grammar
