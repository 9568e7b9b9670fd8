#include "server/protocol/body.h"

#include "base/utf8.h"
#include "model/chat/value_json.h"
#include "server/protocol/field_reader.h"

namespace ingot::protocol {

namespace {

Outcome<void> expect_utf8(std::string_view body) {
  for (std::size_t place = 0; place < body.size();) {
    const DecodedCharacter character = decode_utf8(body, place);
    if (!character.is_valid) {
      return wrong_body("expected a body in UTF-8, found byte " +
                        std::to_string(static_cast<std::uint8_t>(body[place])) + " at offset " + std::to_string(place));
    }
    place += character.size;
  }
  return {};
}

}  // namespace

Outcome<chat::Value> read_json(std::string_view json) {
  TRY(expect_utf8(json));
  // The library passes over a byte order mark, which RFC 8259 lets nobody send.
  if (json.starts_with("\xef\xbb\xbf")) return wrong_body("expected JSON, found a byte order mark at offset 0");
  Result<chat::Value> read = chat::value_from_json(json);
  if (!read.ok()) return wrong_body(std::string(read.error().text()));
  return std::move(read).value();
}

Outcome<chat::Dictionary> read_body(std::string_view body) {
  const chat::Value read = TRY(read_json(body));
  if (!read.is(chat::Kind::dictionary)) return wrong_body("expected a JSON object, found " + described(read));
  return read.as_dictionary();
}

Outcome<std::optional<std::string>> model_of(const chat::Dictionary& body) {
  std::optional<std::string> model;
  FieldReader reader(body);
  reader.read("model", model);
  TRY(reader.outcome());
  return model;
}

}  // namespace ingot::protocol
