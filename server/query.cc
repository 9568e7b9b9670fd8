#include "server/query.h"

#include <algorithm>
#include <vector>

#include "server/http/percent.h"

namespace ingot {
namespace {

using protocol::Outcome;
using protocol::wrong_field;

// As forms spell it; what is no such text stands for itself.
std::string decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return http::percent_decoded(spaced).value_or(spaced);
}

struct Part {
  std::string name;
  std::string value;
};

std::vector<Part> parts_of(std::string_view query) {
  std::vector<Part> parts;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    parts.push_back({decoded(part.substr(0, equals)), decoded(part.substr(std::min(equals + 1, part.size())))});
  }
  return parts;
}

// "a, b or c"
template <class Names>
std::string listed(const Names& names) {
  std::string list;
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (index > 0) list += index + 1 == names.size() ? " or " : ", ";
    list += names[index];
  }
  return list;
}

std::string names_of(std::span<const QueryField> known) {
  std::vector<std::string_view> names;
  for (const QueryField& field : known) names.push_back(field.name);
  return names.empty() ? "nothing" : listed(names);
}

}  // namespace

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  for (Part& part : parts_of(query)) {
    if (part.name == name) return std::move(part.value);
  }
  return std::nullopt;
}

// What is said by an unknown name is not repeated: it may be a key.
Outcome<void> check_query(std::string_view query, std::span<const QueryField> known) {
  const std::vector<Part> parts = parts_of(query);
  for (const Part& part : parts) {
    const auto field = std::ranges::find(known, std::string_view(part.name), &QueryField::name);
    if (field == known.end()) {
      return wrong_field(part.name,
                         "expected " + names_of(known) + " behind the path's '?', found '" + part.name + "'");
    }
    if (std::ranges::count(parts, part.name, &Part::name) > 1) {
      return wrong_field(part.name, part.name + ": expected once behind the path's '?', found several times");
    }
    if (field->values.empty() || std::ranges::count(field->values, std::string_view(part.value)) > 0) continue;
    return wrong_field(part.name, part.name + ": expected " + listed(field->values) + ", found '" + part.value + "'");
  }
  return {};
}

}  // namespace ingot
