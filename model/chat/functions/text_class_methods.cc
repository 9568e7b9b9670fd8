// Methods of texts that ask what they are made of: isdigit, isupper and their like.
#include <algorithm>

#include "model/chat/functions/methods.h"
#include "model/chat/functions/text_classes.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/unicode.h"

namespace ingot::chat {

namespace {

template <bool (*holds)(std::string_view)>
Result<Value> ask(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind("a question about a text", arguments, {}));
  TRY(runtime.budget.spend_bytes(self.bytes().size()));
  return Value::boolean(holds(self.bytes()));
}

// True of no text that is empty.
template <auto holds>
bool all(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const TextCharacter next = decode_code_point(text, offset);
    if (!holds(next.value)) return false;
    offset += next.bytes;
  }
  return !text.empty();
}

bool is_alphanumeric(char32_t code_point) { return is_alphabetic(code_point) || is_numeric(code_point); }
bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}
bool is_all_printable(std::string_view text) { return text.empty() || all<is_printable>(text); }
bool is_identifier(std::string_view text) {
  return all<is_word_character>(text) && !is_numeric(decode_code_point(text, 0).value);
}

// Capitals after what has no case, small letters after what has.
bool is_title(std::string_view text) {
  bool has_cased = false;
  bool after_cased = false;
  for (char32_t code_point : code_points_of(text)) {
    const bool is_capital = is_uppercase(code_point) || is_titlecase(code_point);
    if (is_capital && after_cased) return false;
    if (is_lowercase(code_point) && !after_cased) return false;
    after_cased = is_capital || is_lowercase(code_point);
    has_cased = has_cased || after_cased;
  }
  return has_cased;
}

constexpr Method methods[] = {
    {"isalnum", ask<all<is_alphanumeric>>},
    {"isalpha", ask<all<is_alphabetic>>},
    {"isascii", ask<is_ascii>},
    {"isdecimal", ask<all<is_decimal>>},
    {"isdigit", ask<all<is_digit>>},
    {"isidentifier", ask<is_identifier>},
    {"islower", ask<is_lower_text>},
    {"isnumeric", ask<all<is_numeric>>},
    {"isprintable", ask<is_all_printable>},
    {"isspace", ask<all<is_space>>},
    {"istitle", ask<is_title>},
    {"isupper", ask<is_upper_text>},
};

}  // namespace

bool is_lower_text(std::string_view text) {
  bool has_cased = false;
  for (char32_t code_point : code_points_of(text)) {
    if (is_uppercase(code_point) || is_titlecase(code_point)) return false;
    has_cased = has_cased || is_lowercase(code_point);
  }
  return has_cased;
}

bool is_upper_text(std::string_view text) {
  bool has_cased = false;
  for (char32_t code_point : code_points_of(text)) {
    if (is_lowercase(code_point) || is_titlecase(code_point)) return false;
    has_cased = has_cased || is_uppercase(code_point);
  }
  return has_cased;
}

std::span<const Method> text_class_methods() { return methods; }

}  // namespace ingot::chat
