#include "model/calls/unit_compare.h"

#include <algorithm>

#include "model/calls/marks.h"
#include "model/chat/value_json.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::calls {

std::vector<std::string_view> units_of(std::string_view text) {
  std::vector<std::string_view> units;
  while (!text.empty()) {
    units.push_back(first_unit(text));
    text.remove_prefix(units.back().size());
  }
  return units;
}

std::size_t common_begin(std::string_view left, std::string_view right) {
  std::size_t size = 0;
  while (!left.empty() && !right.empty()) {
    const std::string_view unit = first_unit(left);
    if (unit != first_unit(right)) break;
    size += unit.size();
    left.remove_prefix(unit.size());
    right.remove_prefix(unit.size());
  }
  return size;
}

std::size_t common_end(std::string_view left, std::string_view right) {
  const auto of_left = units_of(left);
  const auto of_right = units_of(right);
  const std::size_t most = std::min(of_left.size(), of_right.size());
  std::size_t size = 0;
  for (std::size_t index = 1; index <= most; ++index) {
    const std::string_view unit = of_left[of_left.size() - index];
    if (unit != of_right[of_right.size() - index]) break;
    size += unit.size();
  }
  return size;
}

std::optional<std::size_t> end_of_object(std::string_view text, std::size_t begin) {
  if (begin >= text.size() || text[begin] != '{') return std::nullopt;
  LiteralRewriter object({});
  std::string json;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (!object.take(text[at], json)) return std::nullopt;
    if (object.status() == LiteralRewriter::Status::done) return at + 1;
  }
  return std::nullopt;
}

bool is_json_of(std::string_view json, const chat::Value& value) {
  const auto parsed = chat::value_from_json(json);
  return parsed.ok() && grammar::canonical_json(parsed.value()) == grammar::canonical_json(value);
}

void find_indices(const std::vector<CallPart>& first, std::vector<CallPart>& second) {
  if (first.size() != second.size()) return;
  std::vector<CallPart> parts;
  for (std::size_t index = 0; index < first.size(); ++index) {
    const std::string& left = first[index].text;
    const std::string& right = second[index].text;
    const auto place = static_cast<std::size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
    const bool is_count = place < left.size() && left.size() == right.size() && left[place] == '0' &&
                          right[place] == '1' && left.substr(place + 1) == right.substr(place + 1);
    if (!is_count) {
      parts.push_back(second[index]);
      continue;
    }
    parts.push_back({CallPart::Kind::text, right.substr(0, place)});
    parts.push_back({CallPart::Kind::index});
    parts.push_back({CallPart::Kind::text, right.substr(place + 1)});
  }
  second = std::move(parts);
}

}  // namespace ingot::calls
