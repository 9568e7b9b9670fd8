#include "model/chat/json_write.h"

#include <cmath>

#include "model/chat/dictionary.h"
#include "model/chat/ordering.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

class JsonWriter {
 public:
  JsonWriter(const JsonOptions& options, Runtime& runtime) : options_(options), runtime_(runtime) {}

  std::string take() { return std::move(text_); }

  Result<void> write(const Value& value) {
    TRY(runtime_.budget.spend_steps(1));
    switch (value.kind()) {
      case Kind::none: return append("null");
      case Kind::boolean: return append(value.as_boolean() ? "true" : "false");
      case Kind::integer: return append(std::to_string(value.as_integer()));
      case Kind::floating:
        if (options_.keeps_spelling && !value.spelling().empty()) return append(value.spelling());
        return append(number_text(value.as_floating()));
      case Kind::text: return write_text(value.bytes());
      case Kind::sequence:
        if (value.is_list() || value.is_tuple()) return write_items(value.items());
        break;
      case Kind::dictionary: return write_dictionary(value.as_dictionary());
      default: break;
    }
    return Error::of(ErrorCode::invalid_argument, "expected a value that JSON can hold, found ", value.type_name());
  }

 private:
  static std::string number_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_text(value);
  }

  Result<void> append(std::string_view part) {
    TRY(runtime_.budget.spend_bytes(part.size()));
    text_ += part;
    return {};
  }

  Result<void> write_text(std::string_view text) {
    TRY(runtime_.budget.spend_bytes(text.size() * (options_.escapes_beyond_ascii ? 6 : 2)));
    text_ += '"';
    for (std::size_t offset = 0; offset < text.size();) {
      const TextCharacter next = decode_code_point(text, offset);
      write_character(next.value, text.substr(offset, next.bytes));
      offset += next.bytes;
    }
    text_ += '"';
    return {};
  }

  void write_character(char32_t character, std::string_view bytes) {
    switch (character) {
      case '"': text_ += "\\\""; return;
      case '\\': text_ += "\\\\"; return;
      case '\n': text_ += "\\n"; return;
      case '\r': text_ += "\\r"; return;
      case '\t': text_ += "\\t"; return;
      case '\f': text_ += "\\f"; return;
      case '\b': text_ += "\\b"; return;
      default: break;
    }
    if (character < 0x20 || (options_.escapes_beyond_ascii && character >= 0x7F && character < stray_byte)) {
      if (character < 0x10000) {
        text_ += "\\u" + hexadecimal(character, 4);
      } else {
        text_ += "\\u" + hexadecimal(0xD800 + ((character - 0x10000) >> 10), 4);
        text_ += "\\u" + hexadecimal(0xDC00 + ((character - 0x10000) & 0x3FF), 4);
      }
      return;
    }
    text_ += bytes;
  }

  void new_line() {
    if (!options_.indentation) return;
    text_ += '\n';
    for (int level = 0; level < level_; ++level) text_ += *options_.indentation;
  }

  // The brackets, separators and indentation of a container, before it is written. Its frames are kept small, because
  // containers recurse and every result has room for an error.
  Result<void> enter(const Runtime::Level& level, std::uint64_t count) {
    TRY(level.check());
    ++level_;
    const std::uint64_t indentation = options_.indentation ? options_.indentation->size() : 0;
    std::uint64_t line = 0;
    if (__builtin_mul_overflow(indentation, static_cast<std::uint64_t>(level_), &line)) line = indentation;
    return runtime_.budget.spend_bytes((count + 1) *
                                       (2 + line + options_.item_separator.size() + options_.key_separator.size()));
  }

  Result<void> write_items(const std::vector<Value>& items) {
    if (items.empty()) return append("[]");
    const Runtime::Level level(runtime_);
    TRY(enter(level, items.size()));
    text_ += '[';
    for (std::size_t index = 0; index < items.size(); ++index) {
      if (index > 0) text_ += options_.item_separator;
      new_line();
      TRY(write(items[index]));
    }
    leave(']');
    return {};
  }

  void leave(char bracket) {
    --level_;
    new_line();
    text_ += bracket;
  }

  static Result<std::string> key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::text: return key.bytes();
      case Kind::none: return std::string("null");
      case Kind::boolean: return std::string(key.as_boolean() ? "true" : "false");
      case Kind::integer: return std::to_string(key.as_integer());
      case Kind::floating: return number_text(key.as_floating());
      default:
        return Error::of(ErrorCode::invalid_argument, "expected a key that JSON can hold, found ", key.type_name());
    }
  }

  Result<std::vector<std::size_t>> order_of(const Dictionary& dictionary) {
    if (options_.sorts_keys) return sorted_order(dictionary.keys(), Direction::ascending, runtime_.budget);
    std::vector<std::size_t> order(dictionary.size());
    for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
    return order;
  }

  Result<void> write_key(const Value& key) {
    const std::string text = TRY(key_text(key));
    TRY(write_text(text));
    text_ += options_.key_separator;
    return {};
  }

  Result<void> write_dictionary(const Dictionary& dictionary) {
    if (dictionary.size() == 0) return append("{}");
    const Runtime::Level level(runtime_);
    TRY(enter(level, dictionary.size()));
    text_ += '{';
    bool is_first = true;
    for (std::size_t index : TRY(order_of(dictionary))) {
      const Dictionary::Entry& entry = dictionary.entries()[index];
      if (!std::exchange(is_first, false)) text_ += options_.item_separator;
      new_line();
      TRY(write_key(entry.key));
      TRY(write(entry.value));
    }
    leave('}');
    return {};
  }

  const JsonOptions& options_;
  Runtime& runtime_;
  int level_ = 0;
  std::string text_;
};

}  // namespace

Result<std::string> json_of(const Value& value, const JsonOptions& options, Runtime& runtime) {
  JsonWriter writer(options, runtime);
  TRY(writer.write(value));
  return writer.take();
}

}  // namespace ingot::chat
