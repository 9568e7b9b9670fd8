#include "model/files/metadata.h"

#include <algorithm>
#include <limits>
#include <string>

#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr auto largest_integer = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

bool is_number(ValueKind kind) { return is_integer(kind) || kind == ValueKind::f32 || kind == ValueKind::f64; }

bool has_wrapped(const ScalarList& list) {
  if (list.kind() != ValueKind::u64) return false;
  for (std::size_t index = 0; index < list.size(); ++index) {
    if (static_cast<std::uint64_t>(list.integer(index)) > largest_integer) return true;
  }
  return false;
}

Error wrong_kind(std::string_view key, std::string_view expected, const MetadataValue& found) {
  return Error::of(ErrorCode::invalid_argument, "metadata ", Quoted{key}, ": expected ", expected, ", found ",
                   found.is_list ? "a list of " : "", name_of(found.kind));
}

Error too_large(std::string_view key, std::string_view what) {
  return Error::of(ErrorCode::overflow, "metadata ", Quoted{key}, ": expected ", what, " of at most ", largest_integer,
                   ", found more");
}

bool is_scalar(const MetadataValue& value, bool (*accepts)(ValueKind)) { return !value.is_list && accepts(value.kind); }

// An empty list fits every kind: JSON has no other way to say it.
bool is_list_of(const MetadataValue& value, bool (*accepts)(ValueKind)) {
  return value.is_list && (accepts(value.kind) || value.size() == 0);
}

}  // namespace

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::u8: return "u8";
    case ValueKind::i8: return "i8";
    case ValueKind::u16: return "u16";
    case ValueKind::i16: return "i16";
    case ValueKind::u32: return "u32";
    case ValueKind::i32: return "i32";
    case ValueKind::f32: return "f32";
    case ValueKind::boolean: return "boolean";
    case ValueKind::text: return "text";
    case ValueKind::u64: return "u64";
    case ValueKind::i64: return "i64";
    case ValueKind::f64: return "f64";
  }
  return "unknown kind";
}

bool is_integer(ValueKind kind) {
  return kind != ValueKind::f32 && kind != ValueKind::f64 && kind != ValueKind::boolean && kind != ValueKind::text;
}

std::size_t byte_size(ValueKind kind) {
  switch (kind) {
    case ValueKind::u8:
    case ValueKind::i8:
    case ValueKind::boolean: return 1;
    case ValueKind::u16:
    case ValueKind::i16: return 2;
    case ValueKind::u32:
    case ValueKind::i32:
    case ValueKind::f32: return 4;
    case ValueKind::u64:
    case ValueKind::i64:
    case ValueKind::f64: return 8;
    case ValueKind::text: return 0;
  }
  return 0;
}

std::int64_t ScalarList::integer(std::size_t index) const {
  switch (kind_) {
    case ValueKind::u8: return load<std::uint8_t>(index);
    case ValueKind::i8: return load<std::int8_t>(index);
    case ValueKind::u16: return load<std::uint16_t>(index);
    case ValueKind::i16: return load<std::int16_t>(index);
    case ValueKind::u32: return load<std::uint32_t>(index);
    case ValueKind::i32: return load<std::int32_t>(index);
    case ValueKind::u64: return static_cast<std::int64_t>(load<std::uint64_t>(index));
    case ValueKind::i64: return load<std::int64_t>(index);
    case ValueKind::boolean: return boolean(index) ? 1 : 0;
    default: return 0;
  }
}

double ScalarList::number(std::size_t index) const {
  switch (kind_) {
    case ValueKind::f32: return load<float>(index);
    case ValueKind::f64: return load<double>(index);
    case ValueKind::u64: return static_cast<double>(load<std::uint64_t>(index));
    default: return static_cast<double>(integer(index));
  }
}

std::size_t MetadataValue::size() const {
  if (!is_list) return 1;
  return kind == ValueKind::text ? texts->size() : bytes.size() / byte_size(kind);
}

bool operator==(const MetadataValue& left, const MetadataValue& right) {
  if (left.kind != right.kind || left.is_list != right.is_list) return false;
  if (left.is_list && left.kind == ValueKind::text) return *left.texts == *right.texts;
  return std::ranges::equal(left.bytes, right.bytes);
}

const MetadataValue* Metadata::find(std::string_view key) const {
  const auto position = positions_.find(key);
  return position == positions_.end() ? nullptr : &entries_[position->second].value;
}

bool Metadata::is_null(std::string_view key) const {
  return !has(key) && std::ranges::find(nulls_, key) != nulls_.end();
}

Result<const MetadataValue*> Metadata::require(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (value == nullptr) {
    return Error::of(ErrorCode::not_found, "metadata: expected a value for ", Quoted{key}, ", found none among ",
                     entries_.size(), " keys");
  }
  return value;
}

Result<std::string_view> Metadata::text(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (value->is_list || value->kind != ValueKind::text) return wrong_kind(key, "text", *value);
  return value->text();
}

Result<std::int64_t> Metadata::integer(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (!is_scalar(*value, is_integer)) return wrong_kind(key, "an integer", *value);
  const ScalarList list(value->kind, value->bytes);
  if (has_wrapped(list)) return too_large(key, "an integer");
  return list.integer(0);
}

Result<double> Metadata::number(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (!is_scalar(*value, is_number)) return wrong_kind(key, "a number", *value);
  return ScalarList(value->kind, value->bytes).number(0);
}

Result<bool> Metadata::boolean(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (value->is_list || value->kind != ValueKind::boolean) return wrong_kind(key, "a boolean", *value);
  return ScalarList(value->kind, value->bytes).boolean(0);
}

Result<TextList> Metadata::text_list(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (!is_list_of(*value, [](ValueKind kind) { return kind == ValueKind::text; })) {
    return wrong_kind(key, "a list of text", *value);
  }
  return value->kind == ValueKind::text ? TextList(*value->texts) : TextList();
}

Result<ScalarList> Metadata::integer_list(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (!is_list_of(*value, is_integer)) return wrong_kind(key, "a list of integers", *value);
  if (value->size() == 0) return ScalarList();
  const ScalarList list(value->kind, value->bytes);
  if (has_wrapped(list)) return too_large(key, "integers");
  return list;
}

Result<ScalarList> Metadata::number_list(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (!is_list_of(*value, is_number)) return wrong_kind(key, "a list of numbers", *value);
  return value->size() == 0 ? ScalarList() : ScalarList(value->kind, value->bytes);
}

Result<ScalarList> Metadata::boolean_list(std::string_view key) const {
  const MetadataValue* value = TRY(require(key));
  if (!is_list_of(*value, [](ValueKind kind) { return kind == ValueKind::boolean; })) {
    return wrong_kind(key, "a list of booleans", *value);
  }
  return value->size() == 0 ? ScalarList() : ScalarList(value->kind, value->bytes);
}

Result<std::string_view> Metadata::text_or(std::string_view key, std::string_view absent) const {
  if (!has(key)) return absent;
  return text(key);
}
Result<std::int64_t> Metadata::integer_or(std::string_view key, std::int64_t absent) const {
  if (!has(key)) return absent;
  return integer(key);
}
Result<double> Metadata::number_or(std::string_view key, double absent) const {
  if (!has(key)) return absent;
  return number(key);
}
Result<bool> Metadata::boolean_or(std::string_view key, bool absent) const {
  if (!has(key)) return absent;
  return boolean(key);
}
Result<TextList> Metadata::text_list_or_empty(std::string_view key) const {
  if (!has(key)) return TextList();
  return text_list(key);
}
Result<ScalarList> Metadata::integer_list_or_empty(std::string_view key) const {
  if (!has(key)) return ScalarList();
  return integer_list(key);
}
Result<ScalarList> Metadata::number_list_or_empty(std::string_view key) const {
  if (!has(key)) return ScalarList();
  return number_list(key);
}

std::string_view Metadata::keep(std::string_view text) {
  if (text.empty()) return {};
  const std::shared_ptr<char[]> copy = std::make_shared<char[]>(text.size());
  std::memcpy(copy.get(), text.data(), text.size());
  kept_.push_back(copy);
  return {copy.get(), text.size()};
}

void Metadata::set(std::string_view key, MetadataValue value) {
  const auto position = positions_.find(key);
  if (position != positions_.end()) {
    entries_[position->second].value = std::move(value);
    return;
  }
  const std::string_view kept = keep(key);
  positions_.emplace(kept, entries_.size());
  entries_.push_back({kept, std::move(value)});
}

void Metadata::set_scalars(std::string_view key, ValueKind kind, bool is_list, std::span<const std::byte> bytes) {
  const std::string_view kept = keep({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  set(key, {kind, is_list, std::as_bytes(std::span(kept)), nullptr});
}

void Metadata::set_text(std::string_view key, std::string_view text) {
  const std::string_view kept = keep(text);
  set(key, {ValueKind::text, false, std::as_bytes(std::span(kept)), nullptr});
}

void Metadata::set_text_list(std::string_view key, TextList texts) {
  std::string joined;
  for (std::string_view text : texts) joined += text;
  const std::string_view kept = keep(joined);
  auto views = std::make_shared<std::vector<std::string_view>>();
  views->reserve(texts.size());
  std::size_t begin = 0;
  for (std::string_view text : texts) {
    views->push_back(kept.substr(begin, text.size()));
    begin += text.size();
  }
  set(key, {ValueKind::text, true, {}, std::move(views)});
}

Result<void> Metadata::add_view(std::string_view key, MetadataValue value) {
  if (!positions_.emplace(key, entries_.size()).second) {
    return Error::of(ErrorCode::corrupt, "metadata: expected every key once, found ", Quoted{key}, " again");
  }
  entries_.push_back({key, std::move(value)});
  return {};
}

}  // namespace ingot
