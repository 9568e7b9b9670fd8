// FieldReader: the fields of an object, by name and with their types and ranges. It knows which names were asked for,
// so that any other field is refused by name; and keeps the first thing that was wrong, so that a request reads like a
// list of its fields.
//
//   FieldReader reader(body);
//   reader.read("temperature", request.temperature, {0, 2});
//   reader.harmless("user", chat::Kind::text);
//   reader.refused("tools", "tools");
//   TRY(reader.finish());
//
// A field that is null counts as absent.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat/dictionary.h"
#include "server/protocol/api_error.h"

namespace ingot::protocol {

enum class FieldUse : std::uint8_t {
  honoured,
  harmless,  // nothing that is served depends on it
  refused,   // by name
};

struct KnownField {
  std::string_view name;
  FieldUse use;
};

// Both ends belong to it.
struct Numbers {
  double least, most;
};
struct Integers {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// A value in an error: "the text 'abc'", "3.5", "a list of 2".
std::string described(const chat::Value& value);

// A number with a fraction of zero is whole too, as in JSON Schema; nothing for any other value.
std::optional<std::int64_t> whole_number(const chat::Value& value);

class FieldReader {
 public:
  // The object must outlive it. `place` is where it stands in the body ("messages[2]"); empty: it is the body.
  explicit FieldReader(const chat::Dictionary& object, std::string place = {})
      : object_(&object), place_(std::move(place)) {}

  // Each leaves its target alone where the field is absent, or something was wrong before.
  void read(std::string_view name, bool& target);
  void read(std::string_view name, std::string& target);
  void read(std::string_view name, double& target, Numbers range);
  void read(std::string_view name, std::int64_t& target, Integers range);
  template <class Target, class... Range>
  void read(std::string_view name, std::optional<Target>& target, Range... range) {
    Target read_target{};
    if (!is_present(name)) return note(name, FieldUse::honoured);
    read(name, read_target, range...);
    if (!has_failed()) target = std::move(read_target);
  }
  // Null where it is absent, null, or something was wrong before: for what is none of the above.
  const chat::Value* value(std::string_view name);
  // The same, and it must be of that kind.
  const chat::Value* value(std::string_view name, chat::Kind kind);
  // A field that is refused with some of its values.
  const chat::Value* partly_refused(std::string_view name);

  // Ignored, but for its kind.
  void harmless(std::string_view name, chat::Kind kind);
  // An error where it is present; `what` names it to people.
  void refused(std::string_view name, std::string_view what);

  // Where a field stands in the body: "messages[2].role".
  std::string place_of(std::string_view name) const;

  void fail(ApiError error);
  void fail(std::string_view name, std::string_view expected, const chat::Value& found);
  void require(std::string_view name, std::string_view expected);  // an error where it is absent
  bool has_failed() const { return error_.has_value(); }

  // The first thing that was wrong.
  Outcome<void> outcome() const;
  // That, or a field that nobody asked for.
  Outcome<void> finish() const;

  const std::vector<KnownField>& known() const { return known_; }

 private:
  bool is_present(std::string_view name) const;
  const chat::Value* find(std::string_view name, FieldUse use);
  void note(std::string_view name, FieldUse use);

  const chat::Dictionary* object_;
  std::string place_;
  std::vector<KnownField> known_;
  std::optional<ApiError> error_;
};

}  // namespace ingot::protocol
