// Methods of texts that make texts: case, padding, stripping, replacing, joining, formatting.
#include <algorithm>

#include "model/chat/access.h"
#include "model/chat/arithmetic.h"
#include "model/chat/functions/brace_format.h"
#include "model/chat/functions/methods.h"
#include "model/chat/number_format.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/text_parts.h"
#include "model/chat/unicode.h"

namespace ingot::chat {

namespace {

template <std::string (*convert)(std::string_view)>
Result<Value> convert_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind("a change of case", arguments, {}));
  TRY(runtime.budget.spend_bytes(self.bytes().size() * 4));
  return recased(self, convert(self.bytes()));
}

template <Side side>
Result<Value> strip_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("strip", arguments, {"chars"}));
  TRY(runtime.budget.spend_bytes(self.bytes().size()));
  if (bound[0].is_none()) return part_of(self, strip(self.bytes(), side));
  const std::string characters = TRY(bound.text(0, ""));
  TRY(runtime.budget.spend_bytes(self.bytes().size() * (1 + characters.size() / 16)));
  return part_of(self, strip_characters(self.bytes(), characters, side));
}

template <char alignment>
Result<Value> pad_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("padding", arguments, {"width", "fillchar"}, 1));
  FormatSpecification specification;
  specification.width = TRY(bound.integer(0, 0));
  specification.fill = TRY(bound.text(1, " "));
  specification.alignment = alignment;
  if (count_code_points(specification.fill) != 1) {
    return Error::of(ErrorCode::invalid_argument, "expected one character to pad with, found '", specification.fill,
                     "'");
  }
  const auto length = static_cast<std::int64_t>(self.as_text().length);
  // str.center puts the odd blank left where the width is odd, unlike a format.
  if (alignment == '^' && specification.width > length) {
    const std::int64_t missing = specification.width - length;
    const std::int64_t left = missing / 2 + (missing & specification.width & 1);
    FormatSpecification first = specification;
    first.alignment = '>';
    first.width = length + left;
    specification.alignment = '<';
    std::string text = TRY(pad(self.bytes(), first, '>', runtime));
    return changed(self, TRY(pad(std::move(text), specification, '<', runtime)));
  }
  return changed(self, TRY(pad(self.bytes(), specification, '<', runtime)));
}

Result<Value> zfill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("zfill", arguments, {"width"}, 1));
  FormatSpecification specification;
  specification.width = TRY(bound.integer(0, 0));
  specification.fill.assign(1, '0');
  // A blank is no sign here.
  specification.alignment = self.bytes().starts_with(' ') ? '>' : '=';
  return changed(self, TRY(pad(self.bytes(), specification, '=', runtime)));
}

Result<Value> replace_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("replace", arguments, {"old", "new", "count"}, 2));
  const std::string old_part = TRY(bound.text(0, ""));
  MarkedText new_part = MarkedText::made(TRY(bound.text(1, "")), bound[1].is_marked());
  if (bound[0].is_none() || bound[1].is_none()) {
    return Error::of(ErrorCode::invalid_argument, "expected two texts to replace, found None");
  }
  if (self.as_text().is_markup) new_part = TRY(escaped_text_of(bound[1], runtime));
  const std::int64_t most = TRY(bound.integer(2, -1));
  MarkedText text = TRY(replace_all(self.as_text(), old_part, new_part, most, runtime));
  return Value::text_like(std::move(text), self.as_text().is_markup);
}

template <Side side>
Result<Value> remove_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("removing an affix", arguments, {"affix"}, 1));
  TRY(runtime.budget.spend_bytes(self.bytes().size()));
  const std::string affix = TRY(bound.text(0, ""));
  std::string_view text = self.bytes();
  if (side == Side::left && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (side == Side::right && text.ends_with(affix)) text.remove_suffix(affix.size());
  return part_of(self, text);
}

Result<Value> join_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("join", arguments, {"iterable"}, 1));
  std::vector<Value> items = TRY(items_of(bound[0], runtime));
  for (Value& item : items) {
    if (self.as_text().is_markup) {
      item = Value::text(TRY(escaped_text_of(item, runtime)));
    } else if (!item.is_text()) {
      return Error::of(ErrorCode::invalid_argument, "expected texts to join, found ", item.type_name());
    }
  }
  return Value::text_like(TRY(join(items, self.as_text(), runtime)), self.as_text().is_markup);
}

Result<Value> format_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return brace_format(self, arguments, runtime);
}

Result<Value> expandtabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("expandtabs", arguments, {"tabsize"}));
  const std::int64_t size = TRY(bound.integer(0, 8));
  std::u32string out;
  std::int64_t column = 0;
  for (char32_t character : code_points_of(self.bytes())) {
    if (character == '\t') {
      const std::int64_t blanks = size > 0 ? size - column % size : 0;
      TRY(runtime.budget.spend_bytes(static_cast<std::uint64_t>(blanks)));
      out.append(static_cast<std::size_t>(blanks), U' ');
      column += blanks;
    } else {
      out += character;
      column = character == '\n' || character == '\r' ? 0 : column + 1;
    }
  }
  TRY(runtime.budget.spend_bytes(out.size()));
  return changed(self, utf8_of(out));
}

constexpr Method methods[] = {
    {"capitalize", convert_case<capitalize>},
    {"casefold", convert_case<casefold>},
    {"center", pad_method<'^'>},
    {"expandtabs", expandtabs},
    {"format", format_method},
    {"join", join_method},
    {"ljust", pad_method<'<'>},
    {"lower", convert_case<lowercase>},
    {"lstrip", strip_method<Side::left>},
    {"removeprefix", remove_affix<Side::left>},
    {"removesuffix", remove_affix<Side::right>},
    {"replace", replace_method},
    {"rjust", pad_method<'>'>},
    {"rstrip", strip_method<Side::right>},
    {"strip", strip_method<Side::both>},
    {"swapcase", convert_case<swapcase>},
    {"title", convert_case<titlecase>},
    {"upper", convert_case<uppercase>},
    {"zfill", zfill},
};

}  // namespace

std::span<const Method> text_methods() { return methods; }

}  // namespace ingot::chat
