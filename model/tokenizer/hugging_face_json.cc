#include "model/tokenizer/hugging_face_json.h"

#include <nlohmann/json.hpp>

namespace ingot::hugging_face {

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Error wrong_kind(std::string_view where, std::string_view expected, const Json& found) {
  return Error::of(ErrorCode::corrupt, "tokenizer.json, ", where, ": expected ", expected, ", found ",
                   found.type_name());
}

namespace {

Error absent_member(std::string_view key, std::string_view expected) {
  return Error::of(ErrorCode::corrupt, "tokenizer.json, ", key, ": expected ", expected, ", found nothing");
}

}  // namespace

Result<std::string> text(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (found == nullptr) return absent_member(key, "a text");
  if (!found->is_string()) return wrong_kind(key, "a text", *found);
  return std::string(*found->get_ptr<const std::string*>());
}

Result<std::string> text_or(const Json& object, std::string_view key, std::string_view absent) {
  if (member(object, key) == nullptr) return std::string(absent);
  return text(object, key);
}

Result<bool> boolean_or(const Json& object, std::string_view key, bool absent) {
  const Json* found = member(object, key);
  if (found == nullptr) return absent;
  if (!found->is_boolean()) return wrong_kind(key, "true or false", *found);
  return *found->get_ptr<const bool*>();
}

Result<std::int64_t> integer(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (found == nullptr) return absent_member(key, "an integer");
  if (!found->is_number_integer()) return wrong_kind(key, "an integer", *found);
  return found->get<std::int64_t>();
}

}  // namespace ingot::hugging_face
