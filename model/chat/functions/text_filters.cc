// Filters of texts. Other values are printed first.
#include <algorithm>

#include "model/chat/access.h"
#include "model/chat/dictionary.h"
#include "model/chat/functions/filters.h"
#include "model/chat/functions/printf_format.h"
#include "model/chat/functions/text_wrap.h"
#include "model/chat/json_write.h"
#include "model/chat/number_format.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/text_parts.h"
#include "model/chat/unicode.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

// A text stays what it is, markup or not.
Result<Value> soft_text(const Value& subject, Runtime& runtime) {
  if (subject.is_text()) return subject;
  return Value::text(TRY(marked_text_of(subject, runtime)));
}

template <std::string (*convert)(std::string_view)>
Result<Value> convert_case(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("a change of case", arguments, {}));
  const Value text = TRY(soft_text(subject, runtime));
  TRY(runtime.budget.spend_bytes(text.bytes().size() * 4));
  return recased(text, convert(text.bytes()));
}

// A capital after each of -, white space, ( { [ < and at the start; small letters after it.
Result<Value> title(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("title", arguments, {}));
  const std::string text = TRY(text_of(subject, runtime));
  TRY(runtime.budget.spend_bytes(text.size() * 4));
  const auto begins_word = [](char32_t character) {
    return is_space(character) ||
           (character < 0x80 && std::string_view("-({[<").find(static_cast<char>(character)) != std::string_view::npos);
  };
  std::string out;
  std::string word;
  const auto finish_word = [&] {
    if (word.empty()) return;
    const std::size_t first = decode_code_point(word, 0).bytes;
    out += uppercase(std::string_view(word).substr(0, first)) + lowercase(std::string_view(word).substr(first));
    word.clear();
  };
  for (char32_t character : code_points_of(text)) {
    if (begins_word(character)) {
      finish_word();
      append_code_point(out, character);
    } else {
      append_code_point(word, character);
    }
  }
  finish_word();
  return Value::text(MarkedText::made(std::move(out), subject.is_marked()));
}

Result<Value> trim(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("trim", arguments, {"chars"}));
  const Value text = TRY(soft_text(subject, runtime));
  TRY(runtime.budget.spend_bytes(text.bytes().size()));
  if (bound[0].is_none()) return part_of(text, strip(text.bytes(), Side::both));
  const std::string characters = TRY(bound.text(0, ""));
  TRY(runtime.budget.spend_search(text.bytes().size(), characters.size()));
  return part_of(text, strip_characters(text.bytes(), characters, Side::both));
}

Result<Value> replace(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("replace", arguments, {"old", "new", "count"}, 2));
  const MarkedText text = TRY(marked_text_of(subject, runtime));
  const std::string old_part = TRY(text_of(bound[0], runtime));
  const MarkedText new_part = TRY(marked_text_of(bound[1], runtime));
  const std::int64_t most = TRY(bound.integer(2, -1));
  return Value::text(TRY(replace_all(text, old_part, new_part, most, runtime)));
}

Result<Value> string(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("string", arguments, {}));
  return soft_text(subject, runtime);
}

Result<Value> center(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("center", arguments, {"width"}));
  const Value text = TRY(soft_text(subject, runtime));
  const Value method = TRY(get_attribute_only(text, "center", runtime));
  return method.as_object()->call(runtime, {{Value::integer(TRY(bound.integer(0, 80)))}, {}});
}

Result<Value> indent(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("indent", arguments, {"width", "first", "blank"}));
  if (!subject.is_text()) {
    return Error::of(ErrorCode::invalid_argument, "expected a text to indent, found ", subject.type_name());
  }
  std::string indentation;
  if (bound[0].is_text()) {
    indentation = bound[0].bytes();
  } else {
    const std::int64_t width = bound.has(0) ? TRY(bound.integer(0, 0)) : 4;
    TRY(runtime.budget.spend_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0))));
    indentation.assign(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
  }
  const bool indents_first = bound.flag(1, false);
  const bool indents_blank = bound.flag(2, false);
  const std::string text = subject.bytes() + "\n";
  const std::vector<std::string_view> lines = split_lines(text);
  TRY(runtime.budget.spend_bytes(text.size() + lines.size() * (sizeof(std::string_view) + indentation.size())));
  std::string out;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    if (index > 0) out += '\n';
    const bool is_indented = index == 0 ? indents_first : indents_blank || !lines[index].empty();
    if (is_indented) out += indentation;
    out += lines[index];
  }
  return changed(subject, std::move(out), bound[0].is_marked());
}

Result<Value> truncate(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("truncate", arguments, {"length", "killwords", "end", "leeway"}));
  const std::int64_t length = TRY(bound.integer(0, 255));
  const std::string end = TRY(bound.text(2, "..."));
  const std::int64_t leeway = TRY(bound.integer(3, 5));
  const auto end_length = static_cast<std::int64_t>(count_code_points(end));
  if (length < end_length || leeway < 0 || length > INT32_MAX || leeway > INT32_MAX) {
    return Error::of(ErrorCode::invalid_argument, "expected a length of at least ", end_length,
                     " and a leeway of at least 0, found ", length, " and ", leeway);
  }
  if (TRY(length_of(subject)) <= length + leeway) return subject;
  if (!subject.is_text()) {
    return Error::of(ErrorCode::invalid_argument, "expected a text to truncate, found ", subject.type_name());
  }
  TRY(runtime.budget.spend_bytes(subject.bytes().size()));
  std::string kept =
      subject.bytes().substr(0, offset_of_code_point(subject.bytes(), static_cast<std::size_t>(length - end_length)));
  if (!bound.flag(1, false)) kept.resize(std::min(kept.rfind(' '), kept.size()));
  return changed(subject, kept + end, bound[2].is_marked());
}

Result<Value> wordwrap(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound =
      TRY(bind("wordwrap", arguments, {"width", "break_long_words", "wrapstring", "break_on_hyphens"}));
  if (!subject.is_text()) {
    return Error::of(ErrorCode::invalid_argument, "expected a text to wrap, found ", subject.type_name());
  }
  WrapOptions options;
  options.width = TRY(bound.integer(0, 79));
  options.breaks_long_words = bound.flag(1, true);
  options.breaks_on_hyphens = bound.flag(3, true);
  const MarkedText separator = MarkedText::made(TRY(bound.text(2, "\n")), bound[2].is_marked());
  if (options.width <= 0)
    return Error::of(ErrorCode::invalid_argument, "expected a width above 0, found ", options.width);
  std::vector<Value> lines;
  for (std::string_view line : split_lines(subject.bytes())) {
    TRY(runtime.budget.spend_bytes(line.size() * 64));
    std::vector<Value> wrapped;
    for (std::string& part : wrap_line(line, options)) {
      wrapped.push_back(Value::text(MarkedText::made(std::move(part), subject.is_marked())));
    }
    lines.push_back(Value::text(TRY(join(wrapped, separator, runtime))));
  }
  return Value::text(TRY(join(lines, separator, runtime)));
}

Result<Value> wordcount(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("wordcount", arguments, {}));
  std::int64_t count = 0;
  bool in_word = false;
  for (char32_t character : code_points_of(TRY(text_of(subject, runtime)))) {
    const bool is_part = is_word_character(character);
    if (is_part && !in_word) ++count;
    in_word = is_part;
  }
  return Value::integer(count);
}

Result<Value> format(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected arguments by position or by name, found both");
  }
  const Value text = TRY(soft_text(subject, runtime));
  if (arguments.named.empty()) return printf_format(text, Value::tuple(arguments.positional), runtime);
  Dictionary named;
  for (const auto& [name, value] : arguments.named) named.insert(name, value);
  return printf_format(text, Value::dictionary(std::move(named)), runtime);
}

// As Hugging Face defines it: no escapes for HTML, and other letters than ASCII as they are.
Result<Value> tojson(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonOptions options;
  options.escapes_beyond_ascii = bound.flag(0, false);
  options.sorts_keys = bound.flag(3, false);
  if (bound[1].is_text()) {
    options.indentation = bound[1].bytes();
  } else if (!bound[1].is_none()) {
    const std::int64_t width = std::max<std::int64_t>(TRY(bound.integer(1, 0)), 0);
    TRY(runtime.budget.spend_bytes(static_cast<std::uint64_t>(width)));
    options.indentation = std::string(static_cast<std::size_t>(width), ' ');
  }
  if (options.indentation) options.item_separator = ",";
  if (!bound[2].is_none()) {
    const std::vector<Value> separators = TRY(items_of(bound[2], runtime));
    if (separators.size() != 2 || !separators[0].is_text() || !separators[1].is_text()) {
      return Error::of(ErrorCode::invalid_argument, "expected two texts as separators, found ", separators.size(),
                       " items");
    }
    options.item_separator = separators[0].bytes();
    options.key_separator = separators[1].bytes();
  }
  const bool is_marked = subject.is_marked() || bound[1].is_marked() || bound[2].is_marked();
  return Value::text(MarkedText::made(TRY(json_of(subject, options, runtime)), is_marked));
}

constexpr Filter filters[] = {
    {"capitalize", convert_case<capitalize>},
    {"center", center},
    {"format", format},
    {"indent", indent},
    {"lower", convert_case<lowercase>},
    {"replace", replace},
    {"string", string},
    {"title", title},
    {"tojson", tojson},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", convert_case<uppercase>},
    {"wordcount", wordcount},
    {"wordwrap", wordwrap},
};

}  // namespace

std::span<const Filter> text_filters() { return filters; }

}  // namespace ingot::chat
