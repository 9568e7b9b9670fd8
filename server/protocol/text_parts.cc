#include "server/protocol/text_parts.h"

#include <algorithm>

namespace ingot::protocol {

using chat::Kind;
using chat::Value;

std::string item_place(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }

std::string listed(std::span<const std::string_view> names) {
  std::string text = "one of";
  for (const std::string_view& name : names) text.append(&name == names.data() ? " " : ", ").append(name);
  return text;
}

bool is_one_of(std::span<const std::string_view> names, const Value& value) {
  return value.is_text() && std::ranges::find(names, value.bytes()) != names.end();
}

Outcome<FieldReader> object_reader(const Value& value, const std::string& place) {
  if (value.is(Kind::dictionary)) return FieldReader(value.as_dictionary(), place);
  return wrong_field(place, place + ": expected an object, found " + described(value));
}

Outcome<std::string> read_text_part(const Value& part, const std::string& place,
                                    std::span<const std::string_view> types) {
  FieldReader reader = TRY(object_reader(part, place));
  std::string type;
  std::string text;
  reader.require("type", "the text '" + std::string(types.front()) + "'");
  reader.read("type", type);
  TRY(reader.outcome());
  if (std::ranges::find(types, type) == types.end()) return not_served_yet(place, "a part of type '" + type + "'");
  reader.require("text", "a text");
  reader.read("text", text);
  for (const std::string_view name : {"prompt_cache_breakpoint", "cache_control"}) {
    reader.harmless(name, Kind::dictionary);
  }
  // What an answer had beside its words, and is sent back with it.
  for (const std::string_view name : {"annotations", "logprobs", "citations"}) reader.harmless(name, Kind::sequence);
  TRY(reader.finish());
  return text;
}

Outcome<std::string> read_text_or_parts(const Value& content, const std::string& place,
                                        std::span<const std::string_view> types) {
  if (content.is_text()) return content.bytes();
  if (!content.is(Kind::sequence) || content.items().empty()) {
    return wrong_field(place, place + ": expected a text or a list of parts, found " + described(content));
  }
  std::string joined;
  for (std::size_t index = 0; index < content.items().size(); ++index) {
    if (index > 0) joined += '\n';
    joined += TRY(read_text_part(content.items()[index], item_place(place, index), types));
  }
  return joined;
}

}  // namespace ingot::protocol
