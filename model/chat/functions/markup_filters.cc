// Filters of markup: escape, safe, striptags, urlencode, xmlattr.
#include "model/chat/access.h"
#include "model/chat/arithmetic.h"
#include "model/chat/dictionary.h"
#include "model/chat/functions/filters.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/text_parts.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

Result<Value> escape(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("escape", arguments, {}));
  return Value::markup(TRY(escaped_text_of(subject, runtime)));
}

Result<Value> forceescape(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("forceescape", arguments, {}));
  const Value plain = Value::text(TRY(marked_text_of(subject, runtime)));
  return Value::markup(TRY(escaped_text_of(plain, runtime)));
}

Result<Value> safe(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("safe", arguments, {}));
  return Value::markup(TRY(marked_text_of(subject, runtime)));
}

std::string unescape_entities(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> entities[] = {
      {"&lt;", "<"},  {"&gt;", ">"},    {"&amp;", "&"},      {"&#34;", "\""},
      {"&#39;", "'"}, {"&quot;", "\""}, {"&nbsp;", "\u00a0"}};
  std::string out;
  for (std::size_t offset = 0; offset < text.size();) {
    bool is_entity = false;
    for (const auto& [entity, character] : entities) {
      if (text[offset] != '&' || !text.substr(offset).starts_with(entity)) continue;
      out += character;
      offset += entity.size();
      is_entity = true;
      break;
    }
    if (!is_entity) out += text[offset++];
  }
  return out;
}

// What stands between `open` and the next `close`, with both, is dropped.
std::string without_enclosed(std::string_view text, std::string_view open, std::string_view close) {
  std::string kept;
  while (true) {
    const std::size_t start = text.find(open);
    const std::size_t end = start == std::string_view::npos ? start : text.find(close, start);
    if (end == std::string_view::npos) return kept.append(text);
    kept += text.substr(0, start);
    text.remove_prefix(end + close.size());
  }
}

// Comments first, then tags; runs of white space become one blank.
Result<Value> striptags(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("striptags", arguments, {}));
  const std::string text = TRY(text_of(subject, runtime));
  TRY(runtime.budget.spend_bytes(text.size() * 4));
  const std::string bare = without_enclosed(without_enclosed(text, "<!--", "-->"), "<", ">");
  std::string out;
  for (std::string_view rest = strip(bare, Side::both); !rest.empty();) {
    if (const std::size_t bytes = space_at(rest, 0)) {
      rest.remove_prefix(bytes);
      if (space_at(rest, 0) == 0) out += ' ';
      continue;
    }
    out += rest[0];
    rest.remove_prefix(1);
  }
  return Value::text(MarkedText::made(unescape_entities(out), subject.is_marked()));
}

std::string url_quote(std::string_view text, bool in_query) {
  std::string out;
  for (char character : text) {
    const bool is_plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                          (character >= '0' && character <= '9') ||
                          std::string_view("_.-~").find(character) != std::string_view::npos ||
                          (character == '/' && !in_query);
    if (is_plain) {
      out += character;
    } else if (character == ' ' && in_query) {
      out += '+';
    } else {
      const auto byte = static_cast<unsigned char>(character);
      out += '%';
      out += "0123456789ABCDEF"[byte / 16];
      out += "0123456789ABCDEF"[byte % 16];
    }
  }
  return out;
}

Result<Value> urlencode(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("urlencode", arguments, {}));
  if (subject.is_text() || !is_iterable(subject)) {
    const std::string text = TRY(text_of(subject, runtime));
    TRY(runtime.budget.spend_bytes(text.size() * 3));
    return Value::text(MarkedText::made(url_quote(text, false), subject.is_marked()));
  }
  const std::vector<Value> pairs =
      subject.is(Kind::dictionary) ? subject.as_dictionary().pairs() : TRY(items_of(subject, runtime));
  std::string out;
  for (const Value& pair : pairs) {
    const std::vector<Value> parts = TRY(items_of(pair, runtime));
    if (parts.size() != 2)
      return Error::of(ErrorCode::invalid_argument, "expected pairs to encode, found ", parts.size(), " items");
    if (!out.empty()) out += '&';
    const std::string key = TRY(text_of(parts[0], runtime));
    const std::string value = TRY(text_of(parts[1], runtime));
    TRY(runtime.budget.spend_bytes((key.size() + value.size()) * 3));
    out += url_quote(key, true) + "=" + url_quote(value, true);
  }
  return Value::text(MarkedText::made(std::move(out), subject.is_marked()));
}

Result<Value> xmlattr(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("xmlattr", arguments, {"autospace"}));
  if (!subject.is(Kind::dictionary)) {
    return Error::of(ErrorCode::invalid_argument, "expected a dictionary of attributes, found ", subject.type_name());
  }
  std::string out;
  for (const Dictionary::Entry& entry : subject.as_dictionary().entries()) {
    if (entry.value.is_none() || entry.value.is_undefined()) continue;
    if (!entry.key.is_text() || entry.key.bytes().find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      return Error::of(ErrorCode::invalid_argument, "expected an attribute's name, found ",
                       TRY(representation_of(entry.key, runtime)));
    }
    if (!out.empty()) out += ' ';
    out += TRY(escaped_text_of(entry.key, runtime)).bytes + "=\"" + TRY(escaped_text_of(entry.value, runtime)).bytes +
           "\"";
  }
  if (!out.empty() && bound.flag(0, true)) out = " " + out;
  return Value::text(MarkedText::made(std::move(out), subject.is_marked()));
}

constexpr Filter filters[] = {
    {"e", escape},        {"escape", escape},       {"forceescape", forceescape},
    {"safe", safe},       {"striptags", striptags}, {"urlencode", urlencode},
    {"xmlattr", xmlattr},
};

}  // namespace

std::span<const Filter> markup_filters() { return filters; }

}  // namespace ingot::chat
