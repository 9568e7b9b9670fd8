#include "model/chat/dictionary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "model/chat/object.h"

namespace ingot::chat {

namespace {

constexpr std::size_t entries_to_look_through = 8;
constexpr std::size_t absent = static_cast<std::size_t>(-1);
// Tuples that share elements can be exponentially larger than their storage.
constexpr std::size_t longest_key_code = std::size_t{1} << 20;

bool append_key_code(const Value& key, std::string& code) {
  if (code.size() > longest_key_code) return false;
  switch (key.kind()) {
    case Kind::none: code += 'n'; return true;
    case Kind::undefined: code += 'u'; return true;
    case Kind::boolean:
    case Kind::integer: code += "i" + std::to_string(*key.integer_value()) + ";"; return true;
    case Kind::floating: {
      const double value = key.as_floating();
      if (value == std::floor(value) && std::abs(value) < 9.2e18) {
        code += "i" + std::to_string(static_cast<std::int64_t>(value)) + ";";
      } else {
        code += "f" + std::string(reinterpret_cast<const char*>(&value), sizeof(value));
      }
      return true;
    }
    case Kind::text: code += "t" + std::to_string(key.bytes().size()) + ":" + key.bytes(); return true;
    case Kind::range: {
      const Range& range = key.as_range();
      code +=
          "r" + std::to_string(range.start) + "," + std::to_string(range.stop) + "," + std::to_string(range.step) + ";";
      return true;
    }
    case Kind::sequence:
      if (!key.is_tuple()) return false;
      code += '(';
      for (const Value& item : key.items()) {
        if (!append_key_code(item, code)) return false;
      }
      code += ')';
      return true;
    case Kind::iterator:
    case Kind::object: {
      const void* address = key.is(Kind::object) ? static_cast<const void*>(key.as_object().get()) : &key.as_iterator();
      code += "o" + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + ";";
      return true;
    }
    case Kind::dictionary: return false;
  }
  return false;
}

}  // namespace

Result<void> expect_key(const Value& key) {
  if (key.is_text() || !key_code(key).empty()) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a value that can be a key, found ", key.type_name());
}

std::string key_code(const Value& key) {
  std::string code;
  return append_key_code(key, code) ? code : std::string();
}

std::size_t Dictionary::place_of(std::string_view key) const {
  if (entries_.size() > entries_to_look_through) {
    const auto found = text_places_.find(key);
    return found == text_places_.end() ? absent : found->second;
  }
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    if (entries_[place].key.is_text() && entries_[place].key.bytes() == key) return place;
  }
  return absent;
}

const Value* Dictionary::find(std::string_view key) const {
  const std::size_t place = place_of(key);
  return place == absent ? nullptr : &entries_[place].value;
}

const Value* Dictionary::find(const Value& key) const {
  if (key.is_text()) return find(key.bytes());
  const auto found = other_places_.find(key_code(key));
  return found == other_places_.end() ? nullptr : &entries_[found->second].value;
}

bool Dictionary::insert(Value key, Value value) {
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  is_marked_ = is_marked_ || key.is_marked() || value.is_marked();
  std::size_t place = entries_.size();
  if (key.is_text()) {
    const std::size_t found = place_of(key.bytes());
    if (found != absent) place = found;
  } else {
    std::string code = key_code(key);
    if (code.empty()) return false;
    place = other_places_.emplace(std::move(code), place).first->second;
  }
  if (place < entries_.size()) {
    entries_[place].value = std::move(value);
    return true;
  }
  entries_.push_back({std::move(key), std::move(value)});
  if (entries_.size() <= entries_to_look_through) return true;
  for (std::size_t index = place == entries_to_look_through ? 0 : place; index <= place; ++index) {
    if (entries_[index].key.is_text()) text_places_.emplace(entries_[index].key.bytes(), index);
  }
  return true;
}

std::vector<Value> Dictionary::keys() const {
  std::vector<Value> keys;
  keys.reserve(entries_.size());
  for (const Entry& entry : entries_) keys.push_back(entry.key);
  return keys;
}

std::vector<Value> Dictionary::values() const {
  std::vector<Value> values;
  values.reserve(entries_.size());
  for (const Entry& entry : entries_) values.push_back(entry.value);
  return values;
}

std::vector<Value> Dictionary::pairs() const {
  std::vector<Value> pairs;
  pairs.reserve(entries_.size());
  for (const Entry& entry : entries_) pairs.push_back(Value::tuple({entry.key, entry.value}));
  return pairs;
}

}  // namespace ingot::chat
