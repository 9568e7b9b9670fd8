#include "server/protocol/field_reader.h"

#include <algorithm>
#include <cmath>

#include "base/edit_distance.h"
#include "base/utf8.h"
#include "server/protocol/json_text.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

std::string_view name_of_kind(Kind kind) {
  switch (kind) {
    case Kind::boolean: return "true or false";
    case Kind::text: return "a text";
    case Kind::sequence: return "a list";
    case Kind::dictionary: return "an object";
    default: return "a number";
  }
}

std::string spelled(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

// The beginning of what may be long, cut between characters.
std::string beginning_of(std::string_view text) {
  constexpr std::size_t most_bytes = 60;
  if (text.size() <= most_bytes) return std::string(text);
  std::size_t end = most_bytes;
  while (end > 0 && continues_character(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string range_of(const Integers& range) {
  constexpr Integers all;
  if (range.least == all.least && range.most == all.most) return "a whole number";
  if (range.most == all.most) return "a whole number of at least " + std::to_string(range.least);
  return "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

}  // namespace

std::optional<std::int64_t> whole_number(const Value& value) {
  if (value.is(Kind::integer)) return value.as_integer();
  if (!value.is(Kind::floating)) return std::nullopt;
  const double number = value.as_floating();
  // From 2^53 on a double no longer says which number was meant.
  if (std::abs(number) > 0x1p53 || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string described(const Value& value) {
  switch (value.kind()) {
    case Kind::none: return "null";
    case Kind::boolean: return value.as_boolean() ? "true" : "false";
    case Kind::integer: return std::to_string(value.as_integer());
    case Kind::floating: return spelled(value.as_floating());
    case Kind::text: return "the text '" + beginning_of(value.bytes()) + "'";
    case Kind::sequence: return "a list of " + std::to_string(value.items().size());
    default: return "an object";
  }
}

bool FieldReader::is_present(std::string_view name) const {
  const Value* found = object_->find(name);
  return found != nullptr && !found->is_none();
}

void FieldReader::note(std::string_view name, FieldUse use) {
  const auto is_it = [&](const KnownField& field) { return field.name == name; };
  if (std::ranges::none_of(known_, is_it)) known_.push_back({name, use});
}

const Value* FieldReader::find(std::string_view name, FieldUse use) {
  note(name, use);
  return has_failed() || !is_present(name) ? nullptr : object_->find(name);
}

const Value* FieldReader::value(std::string_view name) { return find(name, FieldUse::honoured); }

const Value* FieldReader::value(std::string_view name, Kind kind) {
  const Value* found = value(name);
  if (found == nullptr || found->is(kind)) return found;
  fail(name, name_of_kind(kind), *found);
  return nullptr;
}

const Value* FieldReader::partly_refused(std::string_view name) { return find(name, FieldUse::refused); }

void FieldReader::read(std::string_view name, bool& target) {
  if (const Value* found = value(name, Kind::boolean)) target = found->as_boolean();
}

void FieldReader::read(std::string_view name, std::string& target) {
  if (const Value* found = value(name, Kind::text)) target = found->bytes();
}

void FieldReader::read(std::string_view name, double& target, Numbers range) {
  const Value* found = value(name);
  if (found == nullptr) return;
  const bool is_number = found->is(Kind::integer) || found->is(Kind::floating);
  const double number = is_number ? *found->number_value() : 0;
  if (!is_number || number < range.least || number > range.most) {
    return fail(name, "a number from " + spelled(range.least) + " to " + spelled(range.most), *found);
  }
  target = number;
}

void FieldReader::read(std::string_view name, std::int64_t& target, Integers range) {
  const Value* found = value(name);
  if (found == nullptr) return;
  const std::optional<std::int64_t> number = whole_number(*found);
  if (!number || *number < range.least || *number > range.most) return fail(name, range_of(range), *found);
  target = *number;
}

void FieldReader::harmless(std::string_view name, Kind kind) {
  const Value* found = find(name, FieldUse::harmless);
  if (found != nullptr && !found->is(kind)) fail(name, name_of_kind(kind), *found);
}

void FieldReader::refused(std::string_view name, std::string_view what) {
  if (find(name, FieldUse::refused) != nullptr) fail(not_served_yet(place_of(name), what));
}

std::string FieldReader::place_of(std::string_view name) const {
  return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
}

void FieldReader::fail(ApiError error) {
  if (!has_failed()) error_ = std::move(error);
}

void FieldReader::fail(std::string_view name, std::string_view expected, const Value& found) {
  const std::string place = place_of(name);
  fail(wrong_field(place, place + ": expected " + std::string(expected) + ", found " + described(found)));
}

void FieldReader::require(std::string_view name, std::string_view expected) {
  if (is_present(name)) return;
  const std::string place = place_of(name);
  fail(wrong_field(place, place + ": expected " + std::string(expected) + ", found nothing"));
}

Outcome<void> FieldReader::outcome() const {
  if (error_) return *error_;
  return {};
}

Outcome<void> FieldReader::finish() const {
  if (error_) return *error_;
  for (const chat::Dictionary::Entry& entry : object_->entries()) {
    const std::string& name = entry.key.bytes();
    const auto is_it = [&](const KnownField& field) { return field.name == name; };
    if (entry.value.is_none() || std::ranges::any_of(known_, is_it)) continue;
    std::string message = "unknown field '" + beginning_of(name) + "'";
    const auto distance = [&](const KnownField& field) { return edit_distance(field.name, name); };
    const auto nearest = std::ranges::min_element(known_, {}, distance);
    if (nearest != known_.end() && distance(*nearest) <= 2)
      message += ": is '" + std::string(nearest->name) + "' meant?";
    return wrong_field(place_of(beginning_of(name)), std::move(message));
  }
  return {};
}

}  // namespace ingot::protocol
