// JSON as text, written by hand: a token of a stream must cost next to nothing.
//
//   std::string text;
//   JsonWriter(text).open_object().key("id").text("x").close_object();
//
// Whatever the bytes, what is written is JSON: bytes that are no UTF-8 become U+FFFD, numbers that JSON does not have
// become the nearest that it has.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::protocol {

// The inside of a JSON string, without its quotation marks. Characters that some readers of event streams take for the
// end of a line (U+0085, U+2028, U+2029) are escaped too.
void append_escaped(std::string& json, std::string_view text);

// To what stands between the brackets of a list.
void append_item(std::string& list, std::string_view item);

void append_integer(std::string& json, std::int64_t value);
// The shortest spelling that reads back as the same number.
void append_number(std::string& json, double value);
void append_number(std::string& json, float value);

// Puts the commas. Nesting is the caller's to get right.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& json) : json_(&json) {}

  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_list() { return open('['); }
  JsonWriter& close_list() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& text(std::string_view value);
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  template <std::floating_point Number>
  JsonWriter& number(Number value) {
    separate();
    append_number(*json_, value);
    return *this;
  }
  template <std::integral Integer>
  JsonWriter& number(Integer value) {
    separate();
    append_integer(*json_, static_cast<std::int64_t>(value));
    return *this;
  }
  // JSON that somebody else wrote.
  JsonWriter& raw(std::string_view json);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string* json_;
  bool wants_comma_ = false;
};

}  // namespace ingot::protocol
