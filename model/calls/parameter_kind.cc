#include "model/calls/parameter_kind.h"

#include <span>
#include <utility>
#include <vector>

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

class KindReader {
 public:
  explicit KindReader(const Value& parameters) : document_(SchemaDocument::of(parameters)) {}

  // Of each declared parameter those that what each keyword allows has in common.
  std::map<std::string_view, std::uint8_t> read() {
    read_properties(*document_.root().value);
    std::map<std::string_view, std::uint8_t> kinds;
    for (const auto& [name, schema] : properties_) {
      seen_ = 0;
      kinds.try_emplace(name, any_kind).first->second &= kinds_of(*schema);
    }
    return kinds;
  }

 private:
  // Schemas that are looked at for one parameter, however they refer to one another.
  static constexpr int most_schemas = 100;
  // What is looked at for all of them together: schemas, listed values, and references by their length. Beyond that
  // nothing is known, which holds values to JSON.
  static constexpr std::size_t most_work = 100'000;
  static constexpr std::size_t bytes_of_work = 16;

  // False: too much was looked at.
  bool spend(std::size_t work) {
    const bool is_left = work <= work_left_;
    work_left_ = is_left ? work_left_ - work : 0;
    return is_left;
  }

  // Null: it is no schema with keywords, or too many were looked at.
  const Dictionary* keywords_of(const Value& schema) {
    return schema.is(Kind::dictionary) && ++seen_ <= most_schemas && spend(1) ? &schema.as_dictionary() : nullptr;
  }

  // Null: there is none.
  const Value* referred(const Dictionary& keywords) {
    const Value* reference = keywords.find("$ref");
    if (reference == nullptr || !reference->is_text()) return nullptr;
    if (!spend(1 + reference->bytes().size() / bytes_of_work)) return nullptr;
    const auto place = document_.resolve(reference->bytes(), document_.root());
    return place.ok() ? place.value().value : nullptr;
  }

  // In the order in which they are declared, some more than once.
  void read_properties(const Value& schema) {
    const Dictionary* keywords = keywords_of(schema);
    if (keywords == nullptr) return;
    const Value* properties = keywords->find("properties");
    if (properties != nullptr && properties->is(Kind::dictionary)) {
      for (const Dictionary::Entry& entry : properties->as_dictionary().entries()) {
        if (!entry.key.is_text()) continue;
        if (!spend(1 + entry.key.bytes().size() / bytes_of_work)) return;
        properties_.emplace_back(entry.key.bytes(), &entry.value);
      }
    }
    if (const Value* other = referred(*keywords)) read_properties(*other);
    for (const Value& part : parts_of(*keywords)) read_properties(part);
  }

  template <class KindOf>
  std::uint8_t united(const Value& list, const KindOf& kind_of) {
    if (!spend(list.items().size())) return any_kind;
    std::uint8_t kinds = 0;
    for (const Value& item : list.items()) kinds |= kind_of(item);
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
    for (const Value& part : parts_of(*keywords)) kinds &= kinds_of(part);
    if (const Value* other = referred(*keywords)) kinds &= kinds_of(*other);
    return kinds;
  }

  std::span<const Value> parts_of(const Dictionary& keywords) {
    const Value* list = keywords.find("allOf");
    if (list == nullptr || !list->is_list() || !spend(list->items().size())) return {};
    return list->items();
  }

  SchemaDocument document_;
  std::vector<std::pair<std::string_view, const Value*>> properties_;
  int seen_ = 0;
  std::size_t work_left_ = most_work;
};

ParameterKind kind_of_bits(std::uint8_t kinds) {
  if (kinds == text_kind) return ParameterKind::text;
  if (kinds == (text_kind | null_kind)) return ParameterKind::text_or_null;
  return kinds != 0 && (kinds & text_kind) == 0 ? ParameterKind::other : ParameterKind::unknown;
}

}  // namespace

ParameterKinds::ParameterKinds(const Value& parameters) {
  KindReader reader(parameters);
  for (const auto& [name, bits] : reader.read()) {
    const ParameterKind kind = kind_of_bits(bits);
    if (kind != ParameterKind::unknown) kinds_.emplace(name, kind);
  }
}

ParameterKind ParameterKinds::of(std::string_view name) const {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? ParameterKind::unknown : found->second;
}

}  // namespace ingot::calls
