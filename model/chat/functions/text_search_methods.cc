// Methods of texts that look for parts of them: find, count, split, startswith and their like.
#include <algorithm>

#include "base/utf8.h"
#include "model/chat/access.h"
#include "model/chat/functions/methods.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/text_parts.h"

namespace ingot::chat {

namespace {

constexpr std::size_t nowhere = std::string_view::npos;

// The part of a text between two indices, which may be negative or absent, and where it starts.
struct Window {
  std::string_view text;
  std::size_t offset = 0;
  bool is_valid = true;  // Python finds nothing, not even nothing, where the start is beyond the end
};

Result<Window> window_of(const Value& self, const BoundArguments& bound, std::size_t first_bound, Runtime& runtime) {
  TRY(runtime.budget.spend_bytes(self.bytes().size()));
  const auto length = static_cast<std::int64_t>(self.as_text().length);
  std::int64_t start = TRY(bound.integer(first_bound, 0));
  std::int64_t stop = TRY(bound.integer(first_bound + 1, length));
  if (start < 0) start = std::max<std::int64_t>(start + length, 0);
  if (stop < 0) stop = std::max<std::int64_t>(stop + length, 0);
  stop = std::min(stop, length);
  if (start > stop) return Window{{}, 0, false};
  const std::size_t first = offset_of_code_point(self.bytes(), static_cast<std::size_t>(start));
  const std::size_t last = offset_of_code_point(self.bytes(), static_cast<std::size_t>(stop));
  return Window{std::string_view(self.bytes()).substr(first, last - first), first, true};
}

enum class Absence : std::uint8_t { gives_minus_one, is_an_error };

template <Side side, Absence absence>
Result<Value> find_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("find", arguments, {"sub", "start", "end"}, 1));
  const std::string part = TRY(bound.text(0, ""));
  TRY(runtime.budget.spend_search(self.bytes().size(), part.size()));
  const Window window = TRY(window_of(self, bound, 1, runtime));
  std::size_t place = nowhere;
  if (window.is_valid) place = side == Side::left ? window.text.find(part) : window.text.rfind(part);
  if (place != nowhere) {
    const std::string_view before = std::string_view(self.bytes()).substr(0, window.offset + place);
    return Value::integer(static_cast<std::int64_t>(count_code_points(before)));
  }
  if (absence == Absence::gives_minus_one) return Value::integer(-1);
  return Error::of(ErrorCode::not_found, "expected '", part, "' in the text, found it absent");
}

Result<Value> count_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("count", arguments, {"sub", "start", "end"}, 1));
  const std::string part = TRY(bound.text(0, ""));
  TRY(runtime.budget.spend_search(self.bytes().size(), part.size()));
  const Window window = TRY(window_of(self, bound, 1, runtime));
  if (!window.is_valid) return Value::integer(0);
  if (part.empty()) return Value::integer(static_cast<std::int64_t>(count_code_points(window.text)) + 1);
  std::int64_t count = 0;
  for (std::size_t place = window.text.find(part); place != nowhere;
       place = window.text.find(part, place + part.size())) {
    ++count;
  }
  return Value::integer(count);
}

template <Side side>
Result<Value> affix_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("startswith", arguments, {"prefix", "start", "end"}, 1));
  const Window window = TRY(window_of(self, bound, 1, runtime));
  const std::vector<Value> candidates = bound[0].is_tuple() ? bound[0].items() : std::vector<Value>{bound[0]};
  for (const Value& candidate : candidates) {
    if (!candidate.is_text()) {
      return Error::of(ErrorCode::invalid_argument, "expected a text or a tuple of texts, found ",
                       candidate.type_name());
    }
    const std::string& affix = candidate.bytes();
    TRY(runtime.budget.spend_bytes(affix.size()));
    const bool holds = side == Side::left ? window.text.starts_with(affix) : window.text.ends_with(affix);
    if (window.is_valid && holds) return Value::boolean(true);
  }
  return Value::boolean(false);
}

// Words between white space; the most-th split leaves the rest in one piece.
std::vector<std::string_view> split_words(std::string_view text, std::int64_t most, Side side) {
  std::vector<std::string_view> parts;
  for (; !(text = strip(text, side)).empty(); --most) {
    if (most == 0) {
      parts.push_back(text);
      break;
    }
    if (side == Side::left) {
      std::size_t end = 0;
      while (end < text.size() && space_at(text, end) == 0) end += decode_code_point(text, end).bytes;
      parts.push_back(text.substr(0, end));
      text.remove_prefix(end);
    } else {
      // Step back to the last white space.
      std::size_t start = text.size();
      while (start > 0) {
        const std::size_t before = previous_character(text, start);
        if (space_at(text, before) == start - before) break;
        start = before;
      }
      parts.push_back(text.substr(start));
      text.remove_suffix(text.size() - start);
    }
  }
  if (side == Side::right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, std::int64_t most,
                                       Side side) {
  std::vector<std::string_view> parts;
  for (; most != 0; --most) {
    const std::size_t place = side == Side::left ? text.find(separator) : text.rfind(separator);
    if (place == nowhere) break;
    if (side == Side::left) {
      parts.push_back(text.substr(0, place));
      text.remove_prefix(place + separator.size());
    } else {
      parts.push_back(text.substr(place + separator.size()));
      text.remove_suffix(text.size() - place);
    }
  }
  parts.push_back(text);
  if (side == Side::right) std::reverse(parts.begin(), parts.end());
  return parts;
}

Result<Value> list_of(const Value& self, const std::vector<std::string_view>& parts, Runtime& runtime) {
  TRY(runtime.budget.spend_bytes(self.bytes().size() + parts.size() * (sizeof(Value) + sizeof(Text))));
  std::vector<Value> items;
  items.reserve(parts.size());
  for (std::string_view part : parts) items.push_back(part_of(self, part));
  return Value::list(std::move(items));
}

template <Side side>
Result<Value> split_method(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("split", arguments, {"sep", "maxsplit"}));
  TRY(runtime.budget.spend_bytes(self.bytes().size()));
  const std::int64_t most = TRY(bound.integer(1, -1));
  if (bound[0].is_none()) return list_of(self, split_words(self.bytes(), most, side), runtime);
  const std::string separator = TRY(bound.text(0, ""));
  if (separator.empty()) return Error::of(ErrorCode::invalid_argument, "expected a separator, found an empty text");
  TRY(runtime.budget.spend_search(self.bytes().size(), separator.size()));
  return list_of(self, split_at(self.bytes(), separator, most, side), runtime);
}

Result<Value> splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("splitlines", arguments, {"keepends"}));
  TRY(runtime.budget.spend_bytes(self.bytes().size()));
  return list_of(self, split_lines(self.bytes(), bound.flag(0, false)), runtime);
}

template <Side side>
Result<Value> partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("partition", arguments, {"sep"}, 1));
  TRY(runtime.budget.spend_bytes(self.bytes().size() * 2));
  const std::string separator = TRY(bound.text(0, ""));
  if (separator.empty()) return Error::of(ErrorCode::invalid_argument, "expected a separator, found an empty text");
  TRY(runtime.budget.spend_search(self.bytes().size(), separator.size()));
  const std::string_view text = self.bytes();
  const std::size_t place = side == Side::left ? text.find(separator) : text.rfind(separator);
  // Where there is no separator, all stands before it, or behind it.
  const std::size_t end = place != nowhere ? place : side == Side::left ? text.size() : 0;
  const std::size_t next = place != nowhere ? place + separator.size() : end;
  return Value::tuple({part_of(self, text.substr(0, end)), part_of(self, text.substr(end, next - end)),
                       part_of(self, text.substr(next))});
}

constexpr Method methods[] = {
    {"count", count_method},
    {"endswith", affix_method<Side::right>},
    {"find", find_method<Side::left, Absence::gives_minus_one>},
    {"index", find_method<Side::left, Absence::is_an_error>},
    {"partition", partition<Side::left>},
    {"rfind", find_method<Side::right, Absence::gives_minus_one>},
    {"rindex", find_method<Side::right, Absence::is_an_error>},
    {"rpartition", partition<Side::right>},
    {"rsplit", split_method<Side::right>},
    {"split", split_method<Side::left>},
    {"splitlines", splitlines},
    {"startswith", affix_method<Side::left>},
};

}  // namespace

std::span<const Method> text_search_methods() { return methods; }

}  // namespace ingot::chat
