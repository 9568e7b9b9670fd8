#include "server/protocol/value_text.h"

namespace ingot::protocol {

using chat::Kind;
using chat::Value;

// No deeper than a body may be.
void add_value(JsonWriter& writer, const Value& value) {
  switch (value.kind()) {
    case Kind::boolean: writer.boolean(value.as_boolean()); return;
    case Kind::integer: writer.number(value.as_integer()); return;
    case Kind::floating:
      value.spelling().empty() ? writer.number(value.as_floating()) : writer.raw(value.spelling());
      return;
    case Kind::text: writer.text(value.bytes()); return;
    case Kind::sequence:
      writer.open_list();
      for (const Value& item : value.items()) add_value(writer, item);
      writer.close_list();
      return;
    case Kind::dictionary:
      writer.open_object();
      for (const chat::Dictionary::Entry& entry : value.as_dictionary().entries()) {
        writer.key(entry.key.bytes());
        add_value(writer, entry.value);
      }
      writer.close_object();
      return;
    default: writer.null(); return;
  }
}

std::string json_of(const Value& value) {
  std::string json;
  JsonWriter writer(json);
  add_value(writer, value);
  return json;
}

}  // namespace ingot::protocol
