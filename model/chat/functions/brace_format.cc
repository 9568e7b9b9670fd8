#include "model/chat/functions/brace_format.h"

#include <algorithm>

#include "model/chat/access.h"
#include "model/chat/arithmetic.h"
#include "model/chat/number_format.h"
#include "model/chat/runtime.h"
#include "model/chat/syntax/literal.h"
#include "model/chat/template_text.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

constexpr std::int64_t most_width = 1'000'000'000;

bool is_alignment(char character) {
  return character == '<' || character == '>' || character == '^' || character == '=';
}

Result<FormatSpecification> parse_specification(std::string_view text) {
  FormatSpecification specification;
  std::size_t offset = 0;
  const auto peek = [&] { return offset < text.size() ? text[offset] : '\0'; };
  if (!text.empty()) {
    const std::size_t fill_bytes = decode_code_point(text, 0).bytes;
    if (fill_bytes < text.size() && is_alignment(text[fill_bytes])) {
      specification.fill = text.substr(0, fill_bytes);
      specification.alignment = text[fill_bytes];
      offset = fill_bytes + 1;
    } else if (is_alignment(text[0])) {
      specification.alignment = text[0];
      offset = 1;
    }
  }
  const auto read_number = [&] {
    std::int64_t number = 0;
    while (peek() >= '0' && peek() <= '9') number = std::min(most_width, number * 10 + (text[offset++] - '0'));
    return number;
  };
  if (peek() == '+' || peek() == '-' || peek() == ' ') specification.sign = text[offset++];
  if (peek() == '#') specification.alternate = true, ++offset;
  if (peek() == '0') {
    ++offset;
    specification.zero_padded = true;
    if (specification.alignment == 0) specification.fill.assign(1, '0');
  }
  specification.width = read_number();
  if (peek() == ',' || peek() == '_') specification.grouping = text[offset++];
  if (peek() == '.') {
    ++offset;
    if (peek() < '0' || peek() > '9')
      return Error::of(ErrorCode::invalid_argument, "expected a precision after '.' in '", text, "'");
    specification.precision = read_number();
  }
  if (offset < text.size()) specification.type = text[offset++];
  if (offset < text.size()) {
    return Error::of(ErrorCode::invalid_argument, "expected a format specification, found '", text, "'");
  }
  return specification;
}

class Formatter {
 public:
  Formatter(const Value& format, const Arguments& arguments, Runtime& runtime)
      : whole_(format.as_text()), is_markup_(format.as_text().is_markup), arguments_(arguments), runtime_(runtime) {}

  // `format` is a part of the whole.
  Result<MarkedText> run(std::string_view format, int depth) {
    if (depth > 1) return Error::of(ErrorCode::invalid_argument, "expected fields in fields once, found them deeper");
    TRY(runtime_.budget.spend_bytes(format.size()));
    MarkedText out;
    for (std::size_t offset = 0; offset < format.size();) {
      const char character = format[offset++];
      if (character != '{' && character != '}') {
        out.append_part(whole_, format.substr(offset - 1, 1));
      } else if (offset < format.size() && format[offset] == character) {
        out.append_part(whole_, format.substr(offset - 1, 1));
        ++offset;
      } else if (character == '}') {
        return Error::of(ErrorCode::invalid_argument, "expected '}}' or a field before '}', found '}' alone");
      } else {
        const std::size_t end = field_end(format, offset);
        if (end == std::string_view::npos)
          return Error::of(ErrorCode::invalid_argument, "expected '}' after a field, found none");
        out.append(TRY(format_field(format.substr(offset, end - offset), depth)));
        offset = end + 1;
      }
    }
    return out;
  }

 private:
  static std::size_t field_end(std::string_view format, std::size_t offset) {
    int open = 1;
    bool in_brackets = false;
    for (; offset < format.size(); ++offset) {
      const char character = format[offset];
      if (character == '[') in_brackets = true;
      if (character == ']') in_brackets = false;
      if (in_brackets) continue;
      if (character == '{') ++open;
      if (character == '}' && --open == 0) return offset;
    }
    return std::string_view::npos;
  }

  Result<MarkedText> format_field(std::string_view field, int depth) {
    const std::size_t name_end = std::min(field.find_first_of("!:"), field.size());
    const Value value = TRY(field_value(field.substr(0, name_end)));
    field.remove_prefix(name_end);
    char conversion = 0;
    if (field.starts_with('!')) {
      conversion = field.size() > 1 ? field[1] : '?';
      field.remove_prefix(std::min<std::size_t>(2, field.size()));
    }
    if (!field.empty() && field[0] != ':') {
      return Error::of(ErrorCode::invalid_argument, "expected ':' after a conversion, found '", field, "'");
    }
    const MarkedText inner = field.empty() ? MarkedText() : TRY(run(field.substr(1), depth + 1));
    const FormatSpecification specification = TRY(parse_specification(inner.bytes));
    std::string text = inner.bytes.empty() && conversion == 0 ? TRY(text_of(value, runtime_))
                                                              : TRY(convert(value, conversion, specification));
    if (is_markup_ && !(value.is_text() && value.as_text().is_markup)) text = escape_markup(text);
    return MarkedText::made(std::move(text), value.is_marked() || inner.is_marked());
  }

  Result<std::string> convert(const Value& value, char conversion, FormatSpecification specification) {
    if (conversion == 'r' || conversion == 'a') {
      return align_text(TRY(representation_of(value, runtime_)), specification);
    }
    if (conversion == 's') return align_text(TRY(text_of(value, runtime_)), specification);
    if (conversion != 0) {
      return Error::of(ErrorCode::invalid_argument, "expected a conversion !s, !r or !a, found '", conversion, "'");
    }
    if (value.is_text()) return align_text(value.bytes(), specification);
    if (!value.number_value()) {
      return Error::of(ErrorCode::invalid_argument, "expected a text or a number to format, found ", value.type_name());
    }
    if (specification.type == 'n') specification.type = value.integer_value() ? 'd' : 'g';
    const auto integer = value.integer_value();
    const bool shows_integer =
        integer && std::string_view("eEfFgG%").find(specification.type) == std::string_view::npos;
    if (shows_integer && specification.precision >= 0) {
      return Error::of(ErrorCode::invalid_argument, "expected no precision for a whole number, found ",
                       specification.precision);
    }
    if (integer && specification.type == 'c') return format_character(*integer, specification);
    if (specification.zero_padded && specification.alignment == 0) specification.alignment = '=';
    return pad(TRY(format_number(value, specification)), specification, '>', runtime_);
  }

  Result<std::string> format_character(std::int64_t code, const FormatSpecification& specification) {
    if (code < 0 || code > 0x10FFFF) {
      return Error::of(ErrorCode::invalid_argument, "expected a code point for format 'c', found ", code);
    }
    std::string character;
    append_code_point(character, static_cast<char32_t>(code));
    return pad(std::move(character), specification, '<', runtime_);
  }

  Result<std::string> align_text(std::string text, const FormatSpecification& specification) {
    if ((specification.type != 0 && specification.type != 's') || specification.grouping != 0) {
      return Error::of(ErrorCode::invalid_argument, "expected a number for this format, found a text");
    }
    if (specification.precision >= 0) {
      text.resize(offset_of_code_point(text, static_cast<std::size_t>(specification.precision)));
    }
    return pad(std::move(text), specification, '<', runtime_);
  }

  Result<Value> field_value(std::string_view name) {
    const std::size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value value = TRY(argument(name.substr(0, first_end)));
    name.remove_prefix(first_end);
    while (!name.empty()) {
      if (name[0] == '.') {
        name.remove_prefix(1);
        const std::size_t end = std::min(name.find_first_of(".["), name.size());
        value = TRY(get_attribute(value, name.substr(0, end), runtime_));
        name.remove_prefix(end);
      } else {
        const std::size_t end = name.find(']');
        if (name[0] != '[' || end == std::string_view::npos) {
          return Error::of(ErrorCode::invalid_argument, "expected '.name' or '[index]' in a field, found '", name, "'");
        }
        const std::string_view index = name.substr(1, end - 1);
        const auto number = parse_integer(index, 10);
        value = TRY(get_item(value, number ? Value::integer(*number) : Value::text(std::string(index)), runtime_));
        name.remove_prefix(end + 1);
      }
    }
    return value;
  }

  Result<Value> argument(std::string_view name) {
    const auto number = name.empty() ? std::optional<std::int64_t>(next_++) : parse_integer(name, 10);
    if (number) {
      if (*number >= 0 && static_cast<std::size_t>(*number) < arguments_.positional.size()) {
        return arguments_.positional[static_cast<std::size_t>(*number)];
      }
      return Error::of(ErrorCode::out_of_range, "expected an argument for field ", *number, ", found ",
                       arguments_.positional.size(), " arguments");
    }
    for (const auto& [known, value] : arguments_.named) {
      if (known == name) return value;
    }
    return Error::of(ErrorCode::not_found, "expected an argument '", name, "' of format, found none");
  }

  const MarkedText& whole_;
  bool is_markup_;
  const Arguments& arguments_;
  Runtime& runtime_;
  std::int64_t next_ = 0;
};

}  // namespace

Result<Value> brace_format(const Value& format, const Arguments& arguments, Runtime& runtime) {
  Formatter formatter(format, arguments, runtime);
  return Value::text_like(TRY(formatter.run(format.bytes(), 0)), format.as_text().is_markup);
}

}  // namespace ingot::chat
