// What messages of every form are made of: texts, or lists of parts of which some are texts.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "server/protocol/field_reader.h"

namespace ingot::protocol {

// "messages[2]"
std::string item_place(const std::string& list, std::size_t index);
// "one of a, b"
std::string listed(std::span<const std::string_view> names);
bool is_one_of(std::span<const std::string_view> names, const chat::Value& value);
inline bool is_text_of(const chat::Value& value, std::string_view text) {
  return value.is_text() && value.bytes() == text;
}

// What words are called in most forms.
inline constexpr std::array<std::string_view, 1> plain_text = {"text"};

// The fields of what must be an object.
Outcome<FieldReader> object_reader(const chat::Value& value, const std::string& place);

// A part of one of these types, which have their words in `text`; any other type is refused by name.
Outcome<std::string> read_text_part(const chat::Value& part, const std::string& place,
                                    std::span<const std::string_view> types);
// A text, or parts of these types, joined by line feeds: few templates know of parts.
Outcome<std::string> read_text_or_parts(const chat::Value& content, const std::string& place,
                                        std::span<const std::string_view> types);

}  // namespace ingot::protocol
