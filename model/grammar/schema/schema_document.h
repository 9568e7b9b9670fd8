// A schema as JSON, with the places that references name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"
#include "model/grammar/schema/schema_pointer.h"

namespace ingot::grammar {

// A schema inside of the document: one for each place, so its address says which.
struct SchemaPlace {
  const chat::Value* value;
  SchemaPointer pointer;
  bool is_negated = false;  // what does not satisfy it is meant

  SchemaPlace negated() const { return {value, pointer, !is_negated}; }
  SchemaPlace below(std::string_view keyword, const chat::Value& child) const;
  SchemaPlace below(std::string_view keyword, std::string_view name, const chat::Value& child) const;
};

// In the order in which they appeared.
enum class Dialect : std::uint8_t { draft_4, draft_6, draft_7, draft_2019_09, draft_2020_12 };

// Nothing: a dialect that nobody here knows.
std::optional<Dialect> dialect_of(std::string_view name);

// One thread at a time.
class SchemaDocument {
 public:
  static Result<SchemaDocument> parse(std::string_view json);
  // Of one that was read before, for whoever asks nothing of its numbers.
  static SchemaDocument of(chat::Value root) { return SchemaDocument(std::move(root)); }

  // What '$schema' says at the root; the newest without it.
  Dialect dialect() const { return dialect_; }
  SchemaPlace root() const { return {&root_, {}}; }
  // What "#", "#/a/b" or "#anchor" names. `from` is told in the error.
  Result<SchemaPlace> resolve(std::string_view reference, const SchemaPlace& from) const;

 private:
  explicit SchemaDocument(chat::Value root);
  Result<SchemaPlace> resolve_pointer(std::string_view pointer, const SchemaPlace& from) const;
  // Where the schemas are that have it.
  const std::vector<SchemaPointer>& anchored(std::string_view anchor) const;

  using Anchors = std::map<std::string, std::vector<SchemaPointer>, std::less<>>;
  chat::Value root_;
  Dialect dialect_ = Dialect::draft_2020_12;
  mutable std::optional<Anchors> anchors_;  // found when the first is asked for: thousands may refer to them
};

// "schema at /properties/a: ".
Error error_at(const SchemaPlace& place, std::string_view keyword, std::string_view expected);

// The shortest JSON of a value; whole numbers without a point. Keys are sorted, so that equal values are equal texts.
std::string canonical_json(const chat::Value& value);
std::string canonical_number(double number);
std::string canonical_number(const chat::Value& number);

}  // namespace ingot::grammar
