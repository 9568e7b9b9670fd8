// Where the parts of a call stand in a render.
#include <algorithm>

#include "model/calls/format_reader.h"
#include "model/calls/marks.h"
#include "model/calls/unit_compare.h"
#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

namespace {

constexpr std::size_t nowhere = std::string_view::npos;

// The keys under which an object has the name and the arguments.
std::optional<std::pair<std::string, std::string>> keys_of(std::string_view json, std::string_view name) {
  const auto object = chat::value_from_json(json);
  if (!object.ok() || !object.value().is(Kind::dictionary)) return std::nullopt;
  const std::string arguments = grammar::canonical_json(TemplateProbe::arguments());
  std::pair<std::string, std::string> keys;
  for (const Dictionary::Entry& entry : object.value().as_dictionary().entries()) {
    if (entry.value.is_text() && entry.value.bytes() == name) keys.first = entry.key.bytes();
    if (entry.value.is(Kind::dictionary) && grammar::canonical_json(entry.value) == arguments) {
      keys.second = entry.key.bytes();
    }
  }
  if (keys.first.empty() || keys.second.empty()) return std::nullopt;
  return keys;
}

struct Hole {
  std::size_t begin, size;
  CallPart::Kind kind;
};

std::vector<CallPart> parts_around(std::string_view text, std::vector<Hole> holes) {
  std::ranges::sort(holes, {}, &Hole::begin);
  std::vector<CallPart> parts;
  std::size_t at = 0;
  for (const Hole& hole : holes) {
    if (hole.begin > at) parts.push_back({CallPart::Kind::text, std::string(text.substr(at, hole.begin - at))});
    parts.push_back({hole.kind});
    at = hole.begin + hole.size;
  }
  if (at < text.size()) parts.push_back({CallPart::Kind::text, std::string(text.substr(at))});
  return parts;
}

}  // namespace

std::optional<FormatReader::Place> FormatReader::locate(std::string_view text, std::size_t from, std::string_view name,
                                                        std::string_view id) {
  if (const auto object = locate_object(text, from, name, id)) return object;
  if (const auto named = locate_named(text, from, name, id)) return named;
  return locate_listed(text, from, name);
}

std::optional<FormatReader::Place> FormatReader::locate_object(std::string_view text, std::size_t from,
                                                               std::string_view name, std::string_view id) {
  const std::size_t place = text.find(name, from);
  if (place == nowhere) return std::nullopt;
  for (std::size_t begin = text.rfind('{', place); begin != nowhere && begin >= from;) {
    const auto end = end_of_object(text, begin);
    const std::string_view object = end ? text.substr(begin, *end - begin) : std::string_view();
    if (const auto keys = end ? keys_of(object, name) : std::nullopt) {
      std::vector<Hole> holes = {{object.find(name), name.size(), CallPart::Kind::name}};
      for (std::size_t inner = object.find('{', 1); inner != nowhere; inner = object.find('{', inner + 1)) {
        const auto inner_end = end_of_object(object, inner);
        if (!inner_end || !is_json_of(object.substr(inner, *inner_end - inner), TemplateProbe::arguments())) continue;
        holes.push_back({inner, *inner_end - inner, CallPart::Kind::arguments});
        break;
      }
      if (const std::size_t id_place = object.find(id); id_place != nowhere) {
        holes.push_back({id_place, id.size(), CallPart::Kind::id});
      }
      CallSpelling& spelling = format_.spelling_;
      spelling.shape = CallShape::object;
      spelling.name_key = keys->first;
      spelling.arguments_key = keys->second;
      spelling.parts = parts_around(object, std::move(holes));
      return Place{begin, *end};
    }
    if (begin == 0) break;
    begin = text.rfind('{', begin - 1);
  }
  return std::nullopt;
}

std::optional<FormatReader::Place> FormatReader::locate_named(std::string_view text, std::size_t from,
                                                              std::string_view name, std::string_view id) {
  const std::size_t place = text.find(name, from);
  const std::size_t arguments = place == nowhere ? nowhere : text.find('{', place);
  const auto end = arguments == nowhere ? std::nullopt : end_of_object(text, arguments);
  if (!end || !is_json_of(text.substr(arguments, *end - arguments), TemplateProbe::arguments())) return std::nullopt;
  const std::size_t id_place = text.find(id, from);
  const bool has_id = id_place < arguments;
  const std::size_t begin = has_id ? std::min(id_place, place) : place;
  std::vector<Hole> holes = {{place - begin, name.size(), CallPart::Kind::name},
                             {arguments - begin, *end - arguments, CallPart::Kind::arguments}};
  if (has_id) holes.push_back({id_place - begin, id.size(), CallPart::Kind::id});
  format_.spelling_.shape = CallShape::named;
  format_.spelling_.parts = parts_around(text.substr(begin, *end - begin), std::move(holes));
  return Place{begin, *end};
}

// Names and values one by one.
std::optional<FormatReader::Place> FormatReader::locate_listed(std::string_view text, std::size_t from,
                                                               std::string_view name) {
  std::size_t at = from;
  const auto find = [&](std::string_view word) {
    const std::size_t place = at == nowhere ? nowhere : text.find(word, at);
    at = place == nowhere ? nowhere : place + word.size();
    return place;
  };
  const std::size_t begin = find(name);
  const std::size_t behind_name = at;
  const std::size_t first_key = find(TemplateProbe::first_key);
  const std::size_t behind_first_key = at;
  const std::size_t first_value = find(TemplateProbe::first_value);
  const std::size_t behind_first_value = at;
  const std::size_t second_key = find(TemplateProbe::second_key);
  const std::size_t behind_second_key = at;
  const std::size_t second_value = find(TemplateProbe::second_value);
  if (second_value == nowhere) return std::nullopt;
  const std::string_view open = text.substr(behind_name, first_key - behind_name);
  const std::string_view before_text = text.substr(behind_first_key, first_value - behind_first_key);
  const std::string_view between = text.substr(behind_first_value, second_key - behind_first_value);
  const std::string_view before_number = text.substr(behind_second_key, second_value - behind_second_key);
  const std::string_view rest = text.substr(at);
  CallSpelling& spelling = format_.spelling_;
  if (read_function(open, before_text, before_number, between)) {
    if (!rest.starts_with(spelling.literal.close)) return std::nullopt;
    return Place{begin, at + 1};
  }
  if (before_text != before_number || !read_tags(open, before_text, between)) return std::nullopt;
  if (!rest.starts_with(spelling.value_end)) return std::nullopt;
  read_text_marks();
  return Place{begin, at + spelling.value_end.size()};
}

bool FormatReader::read_function(std::string_view open, std::string_view before_text, std::string_view before_number,
                                 std::string_view between) {
  const std::string_view assign = core_of(before_number);
  if ((open != "(" && open != "{") || assign.size() != 1 || !before_text.starts_with(before_number)) return false;
  const std::string_view quote = before_text.substr(before_number.size());
  if (quote.empty() || !between.starts_with(quote) || core_of(between.substr(quote.size())) != ",") return false;
  CallSpelling& spelling = format_.spelling_;
  spelling.shape = CallShape::function;
  spelling.literal = {.is_python = true, .has_bare_keys = true};
  spelling.literal.open = open[0];
  spelling.literal.close = open == "(" ? ')' : '}';
  spelling.literal.assign = assign[0];
  spelling.argument_separator = between.substr(quote.size());
  if (quote != "\"" && quote != "'") spelling.literal.quote = quote;
  spelling.parts = {{CallPart::Kind::name}, {CallPart::Kind::arguments}};
  return true;
}

bool FormatReader::read_tags(std::string_view behind_name, std::string_view behind_key, std::string_view between) {
  // Without arguments, what follows the name is the end of the call.
  const auto empty = answer_with({{TemplateProbe::first_name, TemplateProbe::first_id, Value::dictionary({})}});
  const std::size_t place = empty ? empty->find(TemplateProbe::first_name) : nowhere;
  if (place == nowhere) return false;
  const std::string_view end = std::string_view(*empty).substr(place + TemplateProbe::first_name.size());
  auto shared = static_cast<std::size_t>(std::ranges::mismatch(behind_name, end).in1 - behind_name.begin());
  const std::string_view both = behind_name.substr(0, shared);
  if (const std::size_t open = both.rfind('<'); open != nowhere && both.find('>', open) == nowhere) shared = open;
  const std::string_view key_begin = behind_name.substr(shared);
  if (core_of(key_begin).empty() || core_of(behind_key).empty() || !between.ends_with(key_begin)) return false;
  CallSpelling& spelling = format_.spelling_;
  spelling.shape = CallShape::tagged;
  spelling.key_begin = key_begin;
  spelling.key_end = behind_key;
  spelling.value_end = between.substr(0, between.size() - key_begin.size());
  spelling.parts = {{CallPart::Kind::name},
                    {CallPart::Kind::text, std::string(behind_name.substr(0, shared))},
                    {CallPart::Kind::arguments}};
  return !core_of(spelling.value_end).empty();
}

// <![CDATA[a<b]]>
void FormatReader::read_text_marks() {
  constexpr std::string_view hard = "Alpha<Beta&Gamma";
  CallSpelling& spelling = format_.spelling_;
  Dictionary arguments;
  arguments.insert(std::string(TemplateProbe::first_key), Value::text(std::string(hard)));
  const auto text =
      answer_with({{TemplateProbe::first_name, TemplateProbe::first_id, Value::dictionary(std::move(arguments))}});
  spelling.text_begin.clear();
  spelling.text_end.clear();
  const std::size_t place = text ? text->find(hard) : nowhere;
  const std::size_t key = text ? text->rfind(spelling.key_end, place) : nowhere;
  const std::size_t end = place == nowhere ? nowhere : text->find(spelling.value_end, place);
  if (key == nowhere || end == nowhere) return;
  const std::size_t begin = key + spelling.key_end.size();
  if (begin > place) return;
  spelling.text_begin = text->substr(begin, place - begin);
  spelling.text_end = text->substr(place + hard.size(), end - place - hard.size());
}

}  // namespace ingot::calls
