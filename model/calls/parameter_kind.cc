#include "model/calls/parameter_kind.h"

#include <algorithm>
#include <span>

#include "model/chat/dictionary.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Kind;
using chat::Value;
using grammar::SchemaDocument;

namespace {

// Kinds of values, as bits: all that a value may have.
enum KindBits : std::uint8_t { text_kind = 1, null_kind = 2, other_kind = 4, any_kind = 7 };

std::uint8_t kind_of_value(const Value& value) {
  if (value.is_text()) return text_kind;
  return value.is_none() ? null_kind : other_kind;
}

std::uint8_t kind_of_type(const Value& type) {
  if (!type.is_text()) return any_kind;
  if (type.bytes() == "string") return text_kind;
  return type.bytes() == "null" ? null_kind : other_kind;
}

template <class KindOf>
std::uint8_t united(const Value& list, const KindOf& kind_of) {
  std::uint8_t kinds = 0;
  for (const Value& item : list.items()) kinds |= kind_of(item);
  return kinds;
}

class KindReader {
 public:
  explicit KindReader(const Value& parameters) : document_(SchemaDocument::of(parameters)) {}

  // Those that what each keyword allows has in common.
  std::uint8_t kinds_of_parameter(std::string_view name) { return kinds_of_property(*document_.root().value, name); }

 private:
  // Schemas that are looked at for one parameter, however they refer to one another.
  static constexpr int most_schemas = 100;

  // Null: it is no schema with keywords, or too many were looked at.
  const Dictionary* keywords_of(const Value& schema) {
    return schema.is(Kind::dictionary) && ++seen_ <= most_schemas ? &schema.as_dictionary() : nullptr;
  }

  // Null: there is none.
  const Value* referred(const Dictionary& keywords) const {
    const Value* reference = keywords.find("$ref");
    if (reference == nullptr || !reference->is_text()) return nullptr;
    const auto place = document_.resolve(reference->bytes(), document_.root());
    return place.ok() ? place.value().value : nullptr;
  }

  std::uint8_t kinds_of_property(const Value& schema, std::string_view name) {
    const Dictionary* keywords = keywords_of(schema);
    if (keywords == nullptr) return any_kind;
    std::uint8_t kinds = any_kind;
    const Value* properties = keywords->find("properties");
    const Value* property =
        properties != nullptr && properties->is(Kind::dictionary) ? properties->as_dictionary().find(name) : nullptr;
    if (property != nullptr) kinds &= kinds_of(*property);
    if (const Value* other = referred(*keywords)) kinds &= kinds_of_property(*other, name);
    for (const Value& part : list_of(*keywords, "allOf")) kinds &= kinds_of_property(part, name);
    return kinds;
  }

  std::uint8_t kinds_of(const Value& schema) {
    const Dictionary* keywords = keywords_of(schema);
    if (keywords == nullptr) return any_kind;
    std::uint8_t kinds = any_kind;
    const auto one = [this](const Value& part) { return kinds_of(part); };
    if (const Value* value = keywords->find("const")) kinds &= kind_of_value(*value);
    if (const Value* type = keywords->find("type")) {
      kinds &= type->is_list() ? united(*type, kind_of_type) : kind_of_type(*type);
    }
    if (const Value* values = keywords->find("enum"); values != nullptr && values->is_list()) {
      kinds &= united(*values, kind_of_value);
    }
    for (const char* keyword : {"anyOf", "oneOf"}) {
      const Value* list = keywords->find(keyword);
      if (list != nullptr && list->is_list()) kinds &= united(*list, one);
    }
    for (const Value& part : list_of(*keywords, "allOf")) kinds &= kinds_of(part);
    if (const Value* other = referred(*keywords)) kinds &= kinds_of(*other);
    return kinds;
  }

  static std::span<const Value> list_of(const Dictionary& keywords, std::string_view name) {
    const Value* list = keywords.find(name);
    return list != nullptr && list->is_list() ? std::span<const Value>(list->items()) : std::span<const Value>();
  }

  SchemaDocument document_;
  int seen_ = 0;
};

}  // namespace

ParameterKind parameter_kind(const Value& parameters, std::string_view name) {
  const std::uint8_t kinds = KindReader(parameters).kinds_of_parameter(name);
  if (kinds == text_kind) return ParameterKind::text;
  if (kinds == (text_kind | null_kind)) return ParameterKind::text_or_null;
  return kinds != 0 && (kinds & text_kind) == 0 ? ParameterKind::other : ParameterKind::unknown;
}

}  // namespace ingot::calls
