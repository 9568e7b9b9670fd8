#include "model/chat/functions/printf_format.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/chat/arithmetic.h"
#include "model/chat/dictionary.h"
#include "model/chat/number_format.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

constexpr std::int64_t most_width = 1'000'000'000;

class Formatter {
 public:
  Formatter(const Value& format, const Value& values, Runtime& runtime)
      : whole_(format.as_text()),
        format_(format.bytes()),
        is_markup_(format.as_text().is_markup),
        values_(values),
        runtime_(runtime) {}

  Result<Value> run() {
    while (offset_ < format_.size()) {
      const std::size_t percent = std::min(format_.find('%', offset_), format_.size());
      text_.append_part(whole_, std::string_view(format_).substr(offset_, percent - offset_));
      offset_ = percent + 1;
      if (percent < format_.size()) TRY(read_conversion());
    }
    TRY(runtime_.budget.spend_bytes(text_.bytes.size()));
    const bool may_be_unused =
        values_.is(Kind::dictionary) || values_.is_list() || values_.is(Kind::range) || values_.is_undefined();
    const bool has_more = values_.is_tuple() ? next_ < values_.items().size() : next_ == 0 && !may_be_unused;
    if (has_more) {
      return Error::of(ErrorCode::invalid_argument, "expected a place in the text for every value, found more values");
    }
    return Value::text_like(std::move(text_), is_markup_);
  }

 private:
  Result<Value> next_value() {
    if (values_.is_tuple()) {
      if (next_ < values_.items().size()) return values_.items()[next_++];
    } else if (next_ == 0) {
      ++next_;
      return values_;
    }
    return Error::of(ErrorCode::invalid_argument, "expected a value for every place in the text, found too few");
  }

  char peek() const { return offset_ < format_.size() ? format_[offset_] : '\0'; }

  Result<std::int64_t> read_number() {
    if (peek() == '*') {
      ++offset_;
      const Value value = TRY(next_value());
      if (!value.is(Kind::integer)) {
        return Error::of(ErrorCode::invalid_argument, "expected an integer for '*', found ", value.type_name());
      }
      return std::clamp<std::int64_t>(value.as_integer(), -most_width, most_width);
    }
    std::int64_t number = 0;
    while (peek() >= '0' && peek() <= '9') number = std::min(most_width, number * 10 + (format_[offset_++] - '0'));
    return number;
  }

  Result<void> read_conversion() {
    Value keyed;
    bool has_key = false;
    if (peek() == '(') {
      const std::size_t close = format_.find(')', offset_);
      if (close == std::string::npos || !values_.is(Kind::dictionary)) {
        return Error::of(ErrorCode::invalid_argument, "expected a dictionary for a place with a name, found ",
                         values_.type_name());
      }
      const std::string_view key = std::string_view(format_).substr(offset_ + 1, close - offset_ - 1);
      const Value* found = values_.as_dictionary().find(key);
      if (found == nullptr) return Error::of(ErrorCode::not_found, "expected a key '", key, "', found none");
      keyed = *found;
      has_key = true;
      offset_ = close + 1;
    }
    FormatSpecification specification;
    specification.alignment = '>';
    while (std::string_view("-+ #0").find(peek()) != std::string_view::npos && peek() != '\0') read_flag(specification);
    specification.width = TRY(read_number());
    if (specification.width < 0) {
      specification.alignment = '<';
      specification.width = -specification.width;
    }
    if (peek() == '.') {
      ++offset_;
      specification.precision = TRY(read_number());
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++offset_;
    specification.type = peek();
    ++offset_;
    if (specification.type == '%') {
      text_.append("%");
      return {};
    }
    const Value value = has_key ? keyed : TRY(next_value());
    text_.append(MarkedText::made(TRY(convert(value, specification)), value.is_marked()));
    return {};
  }

  void read_flag(FormatSpecification& specification) {
    const char flag = format_[offset_++];
    if (flag == '-') specification.alignment = '<';
    if (flag == '+' || (flag == ' ' && specification.sign != '+')) specification.sign = flag;
    if (flag == '#') specification.alternate = true;
    if (flag == '0') specification.zero_padded = true;
  }

  Result<std::string> convert(const Value& value, FormatSpecification specification) {
    std::string text;
    switch (specification.type) {
      case 's': text = is_markup_ ? TRY(escaped_text_of(value, runtime_)).bytes : TRY(text_of(value, runtime_)); break;
      case 'r':
      case 'a': text = TRY(representation_of(value, runtime_)); break;
      case 'c':
        if (const auto code = value.integer_value(); code && *code >= 0 && *code <= 0x10FFFF) {
          append_code_point(text, static_cast<char32_t>(*code));
        } else if (value.is_text() && value.as_text().length == 1) {
          text = value.bytes();
        } else {
          return Error::of(ErrorCode::invalid_argument, "expected one character for %c, found ", value.type_name());
        }
        break;
      default: return convert_number(value, specification);
    }
    if (specification.precision >= 0) {
      text.resize(offset_of_code_point(text, static_cast<std::size_t>(specification.precision)));
    }
    return pad(std::move(text), specification, '>', runtime_);
  }

  Result<std::string> convert_number(Value value, FormatSpecification specification) {
    if (value.is_undefined()) return Error::of(ErrorCode::invalid_argument, value.undefined_reason());
    if (specification.type == 'i' || specification.type == 'u') specification.type = 'd';
    // %d takes a float too, and drops what is behind the point.
    if (specification.type == 'd' && value.is(Kind::floating) && std::abs(value.as_floating()) < 9.2e18) {
      value = Value::integer(static_cast<std::int64_t>(value.as_floating()));
    }
    if (std::string_view("doxXeEfFgG").find(specification.type) == std::string_view::npos ||
        specification.type == '\0') {
      return Error::of(ErrorCode::invalid_argument, "expected a conversion such as s or d after %, found '",
                       specification.type, "'");
    }
    if (specification.zero_padded && specification.alignment == '>') {
      specification.alignment = '=';
      specification.fill.assign(1, '0');
    }
    return pad(TRY(format_number(value, specification)), specification, '>', runtime_);
  }

  const MarkedText& whole_;
  const std::string& format_;
  bool is_markup_;
  const Value& values_;
  Runtime& runtime_;
  std::size_t offset_ = 0;
  std::size_t next_ = 0;
  MarkedText text_;
};

}  // namespace

Result<Value> printf_format(const Value& format, const Value& values, Runtime& runtime) {
  return Formatter(format, values, runtime).run();
}

}  // namespace ingot::chat
