#include "model/chat/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/chat/dictionary.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/unicode.h"

namespace ingot::chat {

namespace {

class Writer {
 public:
  explicit Writer(Runtime& runtime) : runtime_(runtime) {}

  std::string take() { return std::move(text_); }

  // Containers recurse, so their frames are kept small: few results, each of which has room for an error.
  Result<void> write(const Value& value) {
    if (value.is(Kind::sequence)) return write_sequence(value);
    if (value.is(Kind::dictionary)) return write_dictionary(value.as_dictionary());
    return append(value.is(Kind::object) ? value.as_object()->description(runtime_) : leaf_text(value));
  }

 private:
  static Result<std::string> leaf_text(const Value& value) {
    switch (value.kind()) {
      case Kind::none: return std::string("None");
      case Kind::undefined: return std::string("Undefined");
      case Kind::boolean: return std::string(value.as_boolean() ? "True" : "False");
      case Kind::integer: return std::to_string(value.as_integer());
      case Kind::floating: return float_text(value.as_floating());
      case Kind::text:
        return value.as_text().is_markup ? "Markup(" + in_quotes(value.bytes()) + ")" : in_quotes(value.bytes());
      case Kind::range: return range_text(value.as_range());
      default: return std::string("<generator object>");
    }
  }

  static std::string range_text(const Range& range) {
    std::string text = "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
    if (range.step != 1) text += ", " + std::to_string(range.step);
    return text + ")";
  }

  Result<void> append(Result<std::string> part) {
    if (!part.ok()) return part.error();
    TRY(runtime_.budget.spend_steps(1));
    text_ += part.value();
    return runtime_.budget.spend_bytes(part.value().size());
  }

  // The brackets and separators of a container, before it is written.
  Result<void> enter(const Runtime::Level& level, std::size_t count) {
    TRY(level.check());
    TRY(runtime_.budget.spend_steps(1));
    return runtime_.budget.spend_bytes(16 + 4 * count);
  }

  Result<void> write_sequence(const Value& value) {
    const Runtime::Level level(runtime_);
    TRY(enter(level, value.items().size()));
    const bool is_view = !value.is_list() && !value.is_tuple();
    if (is_view) text_.append(value.type_name()).append("(");
    text_ += value.is_tuple() ? '(' : '[';
    bool is_first = true;
    for (const Value& item : value.items()) {
      if (!std::exchange(is_first, false)) text_ += ", ";
      TRY(write(item));
    }
    if (value.is_tuple() && value.items().size() == 1) text_ += ',';
    text_ += value.is_tuple() ? ')' : ']';
    if (is_view) text_ += ')';
    return {};
  }

  Result<void> write_dictionary(const Dictionary& dictionary) {
    const Runtime::Level level(runtime_);
    TRY(enter(level, dictionary.size()));
    text_ += '{';
    bool is_first = true;
    for (const Dictionary::Entry& entry : dictionary.entries()) {
      if (!std::exchange(is_first, false)) text_ += ", ";
      TRY(write(entry.key));
      text_ += ": ";
      TRY(write(entry.value));
    }
    text_ += '}';
    return {};
  }

  Runtime& runtime_;
  std::string text_;
};

}  // namespace

Result<std::string> text_of(const Value& value, Runtime& runtime) {
  if (value.is_text()) {
    TRY(runtime.budget.spend_bytes(value.bytes().size()));
    return value.bytes();
  }
  if (value.is_undefined()) return std::string();
  return representation_of(value, runtime);
}

Result<MarkedText> marked_text_of(const Value& value, Runtime& runtime) {
  if (!value.is_text()) return MarkedText::made(TRY(text_of(value, runtime)), value.is_marked());
  TRY(runtime.budget.spend_bytes(value.bytes().size()));
  return MarkedText(value.as_text());
}

Result<std::string> representation_of(const Value& value, Runtime& runtime) {
  Writer writer(runtime);
  TRY(writer.write(value));
  return writer.take();
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  const std::string_view scientific(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t exponent_mark = scientific.find('e');
  int exponent = 0;
  const char* exponent_start = scientific.data() + exponent_mark + 1 + (scientific[exponent_mark + 1] == '+' ? 1 : 0);
  std::from_chars(exponent_start, written.ptr, exponent);
  // Python keeps to plain digits for what 16 of them can show.
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  std::string sign;
  std::string digits;
  for (char character : scientific.substr(0, exponent_mark)) {
    if (character == '-') sign = "-";
    if (character >= '0' && character <= '9') digits += character;
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string hexadecimal(std::uint64_t value, int width) {
  std::string digits;
  for (; value != 0 || width > 0; value /= 16, --width) digits += "0123456789abcdef"[value % 16];
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string in_quotes(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t offset = 0; offset < text.size();) {
    const TextCharacter next = decode_code_point(text, offset);
    const char32_t value = next.value;
    if (value == static_cast<unsigned char>(quote) || value == '\\') {
      out += '\\';
      out += static_cast<char>(value);
    } else if (value == '\n') {
      out += "\\n";
    } else if (value == '\r') {
      out += "\\r";
    } else if (value == '\t') {
      out += "\\t";
    } else if (value < stray_byte && is_printable(value)) {
      out += text.substr(offset, next.bytes);
    } else if (value >= stray_byte) {
      out += "\\x" + hexadecimal(value - stray_byte, 2);
    } else {
      out += value < 0x100     ? "\\x" + hexadecimal(value, 2)
             : value < 0x10000 ? "\\u" + hexadecimal(value, 4)
                               : "\\U" + hexadecimal(value, 8);
    }
    offset += next.bytes;
  }
  return out + quote;
}

}  // namespace ingot::chat
