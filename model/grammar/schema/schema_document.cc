#include "model/grammar/schema/schema_document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/files/quoted.h"
#include "model/grammar/code_points.h"
#include "model/grammar/schema/number_language.h"
#include "model/grammar/schema/subschemas.h"

namespace ingot::grammar {

namespace {

using chat::Kind;
using chat::Value;

std::optional<unsigned> hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

// A fragment of a reference: %25 stands for a character.
std::string percent_decoded(std::string_view fragment) {
  std::string bytes;
  for (std::size_t index = 0; index < fragment.size(); ++index) {
    const bool has_digits = fragment[index] == '%' && index + 2 < fragment.size();
    const auto high = has_digits ? hexadecimal(fragment[index + 1]) : std::nullopt;
    const auto low = has_digits ? hexadecimal(fragment[index + 2]) : std::nullopt;
    if (high && low) {
      bytes += static_cast<char>(*high * 16 + *low);
      index += 2;
    } else {
      bytes += fragment[index];
    }
  }
  return bytes;
}

// A token of a pointer: ~0 and ~1 stand for characters.
std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t index = 0; index < token.size(); ++index) {
    const bool is_escape = token[index] == '~' && index + 1 < token.size();
    if (is_escape && (token[index + 1] == '0' || token[index + 1] == '1')) {
      text += token[++index] == '0' ? '~' : '/';
    } else {
      text += token[index];
    }
  }
  return text;
}

// A schema with an identifier of its own has its own anchors.
template <class Anchors>
void find_anchors(const SchemaPlace& schema, Anchors& anchors) {
  if (!schema.value->is(Kind::dictionary)) return;
  const Value* name = schema.value->as_dictionary().find("$anchor");
  if (name != nullptr && name->is_text()) anchors[name->bytes()].push_back(schema.pointer);
  visit_subschemas(schema, Definitions::visited,
                   [&](std::string_view, const SchemaPlace& below) { find_anchors(below, anchors); });
}

// Numbers are held as doubles: what a double would change is refused instead.
Result<void> expect_exact(std::string_view name, std::string_view text, double value) {
  char digits[40];
  const std::string_view shortest(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  const auto written = Decimal::parse(text), held = Decimal::parse(shortest);
  if (written && held && compare(*written, *held) == 0) return {};
  return Error::of(ErrorCode::unsupported, "schema, ", Quoted{name}, ": expected decimals that a double holds, found ",
                   Quoted{text});
}

}  // namespace

std::optional<Dialect> dialect_of(std::string_view name) {
  while (name.ends_with('#')) name.remove_suffix(1);
  constexpr std::array<std::pair<std::string_view, Dialect>, 8> dialects{
      {{"https://json-schema.org/draft/2020-12/schema", Dialect::draft_2020_12},
       {"http://json-schema.org/draft/2020-12/schema", Dialect::draft_2020_12},
       {"https://json-schema.org/draft/2019-09/schema", Dialect::draft_2019_09},
       {"http://json-schema.org/draft-07/schema", Dialect::draft_7},
       {"https://json-schema.org/draft-07/schema", Dialect::draft_7},
       {"http://json-schema.org/draft-06/schema", Dialect::draft_6},
       {"http://json-schema.org/draft-04/schema", Dialect::draft_4},
       {"https://json-schema.org/draft-04/schema", Dialect::draft_4}}};
  for (const auto& [known, dialect] : dialects) {
    if (known == name) return dialect;
  }
  return std::nullopt;
}

SchemaDocument::SchemaDocument(Value root) : root_(std::move(root)) {
  const Value* name = root_.is(Kind::dictionary) ? root_.as_dictionary().find("$schema") : nullptr;
  // One that is not known is refused where it is read.
  if (name != nullptr && name->is_text()) dialect_ = dialect_of(name->bytes()).value_or(dialect_);
}

SchemaPlace SchemaPlace::below(std::string_view keyword, const Value& child) const {
  return {&child, pointer.below(keyword)};
}

SchemaPlace SchemaPlace::below(std::string_view keyword, std::string_view name, const Value& child) const {
  return {&child, pointer.below(keyword).below(name)};
}

Error error_at(const SchemaPlace& place, std::string_view keyword, std::string_view expected) {
  const std::string pointer = place.pointer.text();
  return Error::of(ErrorCode::unsupported, "schema, ", Quoted{keyword}, " at ", Quoted{pointer}, ": expected ",
                   expected);
}

Result<SchemaDocument> SchemaDocument::parse(std::string_view json) {
  std::size_t left = chat::most_json_values;
  return SchemaDocument(TRY(chat::value_from_json(json, left, expect_exact)));
}

Result<SchemaPlace> SchemaDocument::resolve(std::string_view reference, const SchemaPlace& from) const {
  if (reference == "#") return root();
  if (reference.starts_with("#/")) return resolve_pointer(percent_decoded(reference.substr(1)), from);
  if (!reference.starts_with("#")) return error_at(from, "$ref", "a reference inside of the schema: '#' and a place");
  const std::vector<SchemaPointer>& found = anchored(reference.substr(1));
  if (found.size() != 1) return error_at(from, "$ref", "an anchor that one schema has");
  return resolve_pointer(found[0].text(), from);
}

const std::vector<SchemaPointer>& SchemaDocument::anchored(std::string_view anchor) const {
  static const std::vector<SchemaPointer> nobody;
  if (!anchors_) find_anchors(root(), anchors_.emplace());
  const auto found = anchors_->find(anchor);
  return found == anchors_->end() ? nobody : found->second;
}

Result<SchemaPlace> SchemaDocument::resolve_pointer(std::string_view pointer, const SchemaPlace& from) const {
  const Value* value = &root_;
  SchemaPointer walked;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string token = unescaped(pointer.substr(0, end));
    pointer.remove_prefix(end);
    // References in there would be to another document.
    const bool has_own_base =
        value != &root_ && value->is(Kind::dictionary) && value->as_dictionary().find("$id") != nullptr;
    if (has_own_base) return error_at(from, "$ref", "a place in no schema with an '$id' of its own");
    if (value->is(Kind::dictionary)) {
      value = value->as_dictionary().find(token);
    } else if (value->is_list()) {
      std::size_t index = 0;
      const auto [rest, error] = std::from_chars(token.data(), token.data() + token.size(), index);
      const bool is_index =
          error == std::errc() && rest == token.data() + token.size() && (token == "0" || token[0] != '0');
      value = is_index && index < value->items().size() ? &value->items()[index] : nullptr;
    } else {
      value = nullptr;
    }
    if (value == nullptr) return error_at(from, "$ref", "the place of a schema");
    walked = walked.below(token);
  }
  return SchemaPlace{value, walked};
}

std::string canonical_number(double number) {
  constexpr std::size_t most_digits_of_an_integer = 19;
  char digits[40];
  std::string shortest(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
  // As a whole number of 64 bits is spelled, wherever it could be one.
  const auto decimal = Decimal::parse(shortest);
  if (!decimal || !decimal->fraction.empty() || decimal->whole.size() > most_digits_of_an_integer) return shortest;
  return (decimal->is_negative ? "-" : "") + decimal->whole;
}

std::string canonical_number(const Value& number) {
  return number.is(Kind::integer) ? std::to_string(number.as_integer()) : canonical_number(number.as_floating());
}

std::string canonical_json(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean: return value.as_boolean() ? "true" : "false";
    case Kind::integer:
    case Kind::floating: return canonical_number(value);
    case Kind::text: return '"' + json_spelling(value.bytes()) + '"';
    case Kind::sequence: {
      std::string text;
      for (const Value& item : value.items()) text += (text.empty() ? "[" : ",") + canonical_json(item);
      return text.empty() ? "[]" : text + "]";
    }
    case Kind::dictionary: {
      std::vector<std::string> entries;
      for (const auto& entry : value.as_dictionary().entries()) {
        entries.push_back(canonical_json(entry.key) + ":" + canonical_json(entry.value));
      }
      std::ranges::sort(entries);
      std::string text;
      for (const std::string& entry : entries) text += (text.empty() ? "{" : ",") + entry;
      return text.empty() ? "{}" : text + "}";
    }
    default: return "null";
  }
}

}  // namespace ingot::grammar
